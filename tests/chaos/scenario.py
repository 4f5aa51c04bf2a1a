"""A scenario: a fault, the stores that it is tried on, and what came of it. `@scenario` registers one."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Final

from tests.chaos import scenarios
from tests.services.database import DatabaseServer
from waterclock.chaos.checker import Findings

STORES: Final = ("postgres", "mariadb", "sqlite")

OwnServer = DatabaseServer


class Unsupported(Exception):
    """This machine cannot do what the scenario needs; says why. It is shown, and fails nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """What a scenario has to itself: an empty folder, an empty store, and its server where the store has one."""

    folder: Path
    store: str
    url: str
    server: OwnServer | None = None
    seconds_scale: float = 1.0  # how much longer than by default a scenario may take its time

    @property
    def own_server(self) -> OwnServer:
        """Where a scenario kills and restarts it."""
        assert self.server, f"{self.store} has no server to kill"
        return self.server


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What a scenario saw. Findings fail it; `late_us` and the notes are figures for the report."""

    fires: int
    runs: int
    findings: Findings
    late_us: Sequence[int] = ()
    notes: Mapping[str, str] = field(default_factory=dict)

    def unless(self, is_well: bool, otherwise: str) -> "Result":
        """The same with one more finding, of lateness, where something took too long."""
        late = [] if is_well else [otherwise]
        return replace(self, findings=replace(self.findings, late=[*self.findings.late, *late]))


Run = Callable[[World], Result]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    number: int
    title: str
    stores: Sequence[str]
    short: bool  # also one of the short set, which CI runs
    run: Run


KNOWN: Final[dict[int, Scenario]] = {}


def scenario(
    number: int, title: str, stores: Sequence[str] = ("postgres",), *, short: bool = False
) -> Callable[[Run], Run]:
    def register(run: Run) -> Run:
        assert number not in KNOWN, f"two scenarios have the number {number}"
        KNOWN[number] = Scenario(number=number, title=title, stores=tuple(stores), short=short, run=run)
        return run

    return register


def all_scenarios() -> list[Scenario]:
    for found in iter_modules(scenarios.__path__):
        import_module(f"{scenarios.__name__}.{found.name}")
    return [KNOWN[number] for number in sorted(KNOWN)]
