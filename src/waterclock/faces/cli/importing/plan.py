"""What an import would do, decided from two lists of things: nothing here reads, writes or asks."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from waterclock.faces.cli.importing.thing import Body, Kind, Place, Thing

# What a server shows for a member that was not given: the same as its absence.
UNSAID: Final[Mapping[str, Sequence[Any]]] = {
    "JobMode": ("SCRIPT",),
    "JobRunQueuingEnabled": (False,),
    "ExecutionClass": ("STANDARD",),
    "ExecutionProperty": ({"MaxConcurrentRuns": 1},),
    "MaxRetries": (0,),
    "Timeout": (2880,),
    "MaxCapacity": (0.0625, 10.0),  # of a Python shell job, of a Spark job
    "AllocatedCapacity": (0, 10),
    "Command.PythonVersion": ("3",),
}
MAPS: Final = ("DefaultArguments", "NonOverridableArguments", "Arguments", "DefaultRunProperties")  # keys are anybody's
EMPTY: Final[tuple[object, ...]] = (None, "", {}, [])


class Verdict(StrEnum):
    CREATE = "create"
    SAME = "same"
    DIFFERS = "differs"
    CANNOT = "cannot"


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """Of one thing by itself: why it would be refused here, and what will be different here."""

    refused: str | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    thing: Thing
    verdict: Verdict
    differs: tuple[str, ...] = ()  # which members
    reason: str | None = None  # why it cannot
    notes: tuple[str, ...] = ()
    starts: bool = False  # it is active there and not here


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The steps in the order in which they can be taken."""

    steps: tuple[Step, ...] = field(default=())

    def count(self, verdict: Verdict) -> int:
        return sum(step.verdict is verdict for step in self.steps)


def plan(there: Collection[Thing], here: Collection[Thing], judge: Callable[[Thing], Judgement]) -> Plan:
    """What has to be made so that all that is there is here, too; what is only here stays as it is."""
    known = {thing.place: thing for thing in here}
    within_reach = set(known)
    steps = []
    for thing in sorted(there, key=lambda thing: list(Kind).index(thing.kind)):
        step = _step(thing, known.get(thing.place), within_reach, judge(thing))
        if step.verdict is not Verdict.CANNOT:
            within_reach.add(thing.place)
        steps.append(step)
    return Plan(steps=tuple(steps))


def differences(there: Thing, here: Thing) -> tuple[str, ...]:
    """The members that do not mean the same."""
    ours, theirs = _said(there.body), _said(here.body)
    found = {name for name in ours.keys() | theirs.keys() if ours.get(name) != theirs.get(name)}
    if there.tags is not None and here.tags is not None and there.tags != here.tags:
        found.add("Tags")
    return tuple(sorted(found))


def _step(thing: Thing, here: Thing | None, within_reach: Collection[Place], judged: Judgement) -> Step:
    starts = _starts(thing, here)
    if here is not None:
        differs = differences(thing, here)
        verdict = Verdict.DIFFERS if differs else Verdict.SAME
        return Step(thing=thing, verdict=verdict, differs=differs, notes=judged.notes, starts=starts)
    if reason := judged.refused or next(_missing(thing, within_reach), None):
        return Step(thing=thing, verdict=Verdict.CANNOT, reason=reason)
    return Step(thing=thing, verdict=Verdict.CREATE, notes=judged.notes, starts=starts)


def _missing(thing: Thing, within_reach: Collection[Place]) -> Iterator[str]:
    for kind, name in thing.needs():
        if (kind, name) not in within_reach:
            yield f"needs the {kind} {name!r}, which is not here and does not come with it"


def _starts(thing: Thing, here: Thing | None) -> bool:
    """To start an ON_DEMAND trigger is to fire it: it waits for a person, here as there."""
    waits = thing.body.get("Type") in ("SCHEDULED", "CONDITIONAL")
    return thing.active and waits and not (here is not None and here.active)


def _said(body: Body, within: str = "") -> dict[str, Any]:
    said = {name: value for name, value in body.items() if not _is_unsaid(within + name, value)}
    if len(said.get("Conditions", ())) == 1:
        said.pop("Logical", None)  # between one condition and nothing
    return {name: value if name in MAPS else _plain(value, f"{within}{name}.") for name, value in said.items()}


def _plain(value: Any, within: str) -> Any:
    match value:
        case dict():
            return _said(value, within)
        case list():
            return [_plain(item, within) for item in value]
    return value


def _is_unsaid(path: str, value: Any) -> bool:
    return value in EMPTY or value in UNSAID.get(path, ())
