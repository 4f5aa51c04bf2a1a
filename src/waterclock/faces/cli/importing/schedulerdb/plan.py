"""What an import would do with each chain, decided from what is there and what is here: nothing is read or asked."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from waterclock.faces.cli.importing.plan import Verdict
from waterclock.faces.cli.importing.schedulerdb.findings import Weight
from waterclock.faces.cli.importing.schedulerdb.judging import Judged

Shown = Mapping[str, Any]  # a chain as GET /chains shows it

FIELDS: Final = (
    *("job_desc", "timestr", "timezone", "dep_ot", "switch", "main_flag", "BKP_flag", "tag", "subtag", "deps", "jobs"),
)
PARTS: Final[Mapping[str, Sequence[str]]] = {
    "deps": ("env", "command", "desc", "ottime"),
    "jobs": ("env", "command", "step_lvl", "job_desc", "ottime"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    chain: Judged
    source: str  # by which it is found again
    verdict: Verdict
    here: Shown | None = None
    differs: tuple[str, ...] = ()
    renumbered: bool = False  # its number is taken by another chain

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why it cannot be carried over, or in what it differs."""
        return self.chain.said(Weight.CANNOT) or self.differs

    @property
    def notes(self) -> tuple[str, ...]:
        """What to know before it is carried over."""
        if self.verdict not in (Verdict.CREATE, Verdict.DIFFERS):
            return ()
        off = tuple(f"comes in OFF: {text}" for text in self.chain.said(Weight.OFF))
        number = ("its number is taken here by another chain: it gets a new one",) if self.renumbered else ()
        return (*off, *number, *self.chain.said(Weight.NOTE))


def plan(there: Iterable[Judged], here: Iterable[Shown], *, name: str) -> tuple[Step, ...]:
    """`name` is the source's. Those that need a new number come last: it must not be one that another brings along."""
    found = list(here)
    known = {shown["source"]: shown for shown in found if shown["source"]}
    taken = {shown["id"] for shown in found}
    steps = [_step(chain, known.get(source_of(name, chain)), source_of(name, chain), taken) for chain in there]
    return tuple(sorted(steps, key=lambda step: step.renumbered))


def source_of(name: str, chain: Judged) -> str:
    return f"{name}#{chain.id}"


def differences(chain: Judged, here: Shown) -> tuple[str, ...]:
    """The fields that do not say the same; what the old tables do not have is not compared."""
    wanted = {**(chain.body or {}), "switch": chain.switch}
    return tuple(field for field in FIELDS if _plain(field, wanted) != _plain(field, here))


def change(chain: Judged, here: Shown) -> dict[str, Any]:
    """All of the chain, for PUT: as it is there, and as it is here in what the old tables do not have."""
    wanted = {**(chain.body or {}), "switch": chain.switch}
    kept = {name: here[name] for name in ("parallel", "dep_err_tolerance", "probe_seconds")}
    said = {**kept, **{field: wanted.get(field) for field in FIELDS}}
    return {name: value for name, value in said.items() if value is not None}


def _step(chain: Judged, here: Shown | None, source: str, taken: set[Any]) -> Step:
    if chain.body is None:
        return Step(chain=chain, source=source, verdict=Verdict.CANNOT, here=here)
    if here is None:
        return Step(chain=chain, source=source, verdict=Verdict.CREATE, renumbered=chain.id in taken)
    differs = differences(chain, here)
    verdict = Verdict.DIFFERS if differs else Verdict.SAME
    return Step(chain=chain, source=source, verdict=verdict, here=here, differs=differs)


def _plain(field: str, chain: Mapping[str, Any]) -> object:
    if field not in PARTS:
        return chain.get(field)
    return [[part.get(name) for name in PARTS[field]] for part in chain.get(field, ())]
