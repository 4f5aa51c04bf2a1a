"""The checker: the evidence that programs left, against what was due, skipped and asked for. Pure.

The due instants come from an oracle that shares nothing with the scheduler. Of our store it is told only the SKIPPED
rows and the ends that it holds them to.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from enum import StrEnum
from itertools import pairwise
from typing import Final, TypeVar

from waterclock.chaos.evidence import END, START, Mark
from waterclock.domain.moment import SECOND, Moment
from waterclock.domain.run import ENDED, RunState

Item = TypeVar("Item")
Key = TypeVar("Key", bound=Hashable)


class Answer(StrEnum):
    """What became of a call that asked for one run of a work of its own."""

    ACKNOWLEDGED = "acknowledged"
    REFUSED = "refused"
    UNKNOWN = "unknown"


ALLOWED: Final = {Answer.ACKNOWLEDGED: (1,), Answer.REFUSED: (0,), Answer.UNKNOWN: (0, 1)}


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """What is known when the evidence is read; instants and calls by the work that they are for."""

    marks: Sequence[Mark]
    read_at: Moment
    bound_us: int = 2 * SECOND  # a start that is missing for longer is lost
    clock_error_us: int = 0  # how far the programs' clocks may be from the store's
    late_bound_us: int | None = None  # a first start after more than this is late; None: lateness is a figure
    due: Mapping[str, Collection[Moment]] = field(default_factory=dict)
    perhaps: Mapping[str, Collection[Moment]] = field(default_factory=dict)  # due while it was switched on or off
    skipped: Mapping[str, Collection[tuple[Moment, Moment]]] = field(default_factory=dict)  # first and last instant
    failed: Mapping[str, Collection[Moment]] = field(default_factory=dict)  # whose run says why it never began
    calls: Mapping[str, Answer] = field(default_factory=dict)
    alone: Collection[Collection[str]] = ()  # works of which one instant ends before another begins
    stored: Mapping[tuple[str, int], str] = field(default_factory=dict)  # states in the store, by run and attempt
    alive: Collection[str] = ()  # runs whose token a live process carries

    @property
    def starts(self) -> list[Mark]:
        return [mark for mark in self.marks if mark.event == START]

    @property
    def ends(self) -> list[Mark]:
        return [mark for mark in self.marks if mark.event == END]

    def is_due(self, mark: Mark) -> bool:
        return any(mark.fire_at in instants.get(mark.work, ()) for instants in (self.due, self.perhaps))

    def is_skipped(self, work: str, at: Moment) -> bool:
        return any(first <= at <= last for first, last in self.skipped.get(work, ()))

    def is_accounted_for(self, work: str, at: Moment) -> bool:
        """Without evidence: the store says why nothing ran."""
        return self.is_skipped(work, at) or at in self.failed.get(work, ())

    def runs(self) -> Mapping[str, int]:
        """How many of each work left evidence."""
        return Counter(work for work, _ in {(mark.work, mark.run) for mark in self.starts})


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    lost: list[str] = field(default_factory=list)
    double: list[str] = field(default_factory=list)
    early: list[str] = field(default_factory=list)
    late: list[str] = field(default_factory=list)
    overlap: list[str] = field(default_factory=list)
    phantom: list[str] = field(default_factory=list)
    state: list[str] = field(default_factory=list)
    orphan: list[str] = field(default_factory=list)
    late_us: list[int] = field(default_factory=list)  # of every first attempt: figures, no faults

    @property
    def faults(self) -> list[str]:
        kinds = [each.name for each in fields(self) if each.name != "late_us"]
        return [f"{kind}: {fault}" for kind in kinds for fault in getattr(self, kind)]


def check(history: History) -> Findings:
    return Findings(
        lost=[*_lost(history)],
        double=[*_double(history.starts)],
        early=[*_early(history)],
        late=[*_late(history)],
        overlap=[*_overlap(history)],
        phantom=[*_phantom(history)],
        state=[*_state(history)],
        orphan=[f"a process of {run} lives" for run in history.alive],
        late_us=[mark.late_us for mark in history.starts if mark.attempt == 0],
    )


def _lost(history: History) -> Iterable[str]:
    ran = {(mark.work, mark.fire_at) for mark in history.starts}
    for work, instants in history.due.items():
        for at in instants:
            is_over = at + history.bound_us < history.read_at
            if is_over and (work, at) not in ran and not history.is_accounted_for(work, at):
                yield f"{work} of {at}"
    runs = history.runs()
    for work, answer in history.calls.items():
        if runs.get(work, 0) < min(ALLOWED[answer]) and not history.failed.get(work):
            yield f"{work}: the call was {answer}, and nothing ran"


def _double(starts: Sequence[Mark]) -> Iterable[str]:
    """Two starts of one attempt, or two runs of one instant."""
    for same in grouped(starts, lambda mark: mark.of).values():
        if len(same) > 1:
            yield f"{len(same)} starts of {same[0]}"
    for same in grouped(starts, lambda mark: (mark.work, mark.fire_at)).values():
        if len({mark.run for mark in same}) > 1:
            yield " and ".join(map(str, same))


def _early(history: History) -> Iterable[str]:
    for mark in history.starts:
        if mark.late_us < -history.clock_error_us:
            yield f"{mark} started at {mark.at}"


def _late(history: History) -> Iterable[str]:
    """First attempts of what was due: a retry comes when it can, a call when it is made."""
    if history.late_bound_us is None:
        return
    for mark in history.starts:
        if mark.attempt == 0 and mark.work not in history.calls and mark.late_us > history.late_bound_us:
            yield f"{mark} started {mark.late_us} us after its instant"


def _overlap(history: History) -> Iterable[str]:
    """Attempts of one run; instants of what must be alone. Each surely lived until its last mark."""
    seen = {attempt: max(mark.at for mark in marks) for attempt, marks in _by_attempt(history).items()}
    attempts = [(mark, _Span(mark.at, seen[mark.of], str(mark))) for mark in history.starts]
    groups = [[span for _, span in same] for same in grouped(attempts, lambda each: each[0].run).values()]
    by_work = grouped(attempts, lambda each: each[0].work)
    for works in history.alone:
        instants = grouped([each for work in works for each in by_work.get(work, ())], lambda each: each[0].fire_at)
        groups.append([_whole([span for _, span in same]) for same in instants.values()])
    for group in groups:
        for before, after in pairwise(sorted(group, key=lambda span: span.start)):
            if after.start < before.end:
                yield f"{after.what} began before the end of {before.what}"


def _by_attempt(history: History) -> dict[tuple[str, int], list[Mark]]:
    return grouped(history.marks, lambda mark: mark.of)


@dataclass(frozen=True, slots=True)
class _Span:
    start: Moment
    end: Moment
    what: str


def _whole(spans: Sequence[_Span]) -> _Span:
    return _Span(min(span.start for span in spans), max(span.end for span in spans), spans[0].what)


def _phantom(history: History) -> Iterable[str]:
    """What nobody asked for, what was skipped and ran all the same, an end without a start."""
    for mark in history.starts:
        if mark.work not in history.calls and not history.is_due(mark):
            yield f"{mark} was not due"
        if history.is_skipped(mark.work, mark.fire_at):
            yield f"{mark} ran though it was skipped"
    runs = history.runs()
    for work, answer in history.calls.items():
        if runs.get(work, 0) > max(ALLOWED[answer]):
            yield f"{work}: the call was {answer}, and {runs[work]} ran"
    begun = {mark.of for mark in history.starts}
    yield from (f"{mark} ended and never started" for mark in history.ends if mark.of not in begun)


def _state(history: History) -> Iterable[str]:
    """The store says otherwise than the evidence, or something has not ended."""
    begun, ended = {mark.of for mark in history.starts}, {mark.of for mark in history.ends}
    for attempt, state in history.stored.items():
        if state not in ENDED:
            yield f"{attempt} is {state}"
        if state == RunState.SUCCEEDED and attempt not in begun & ended:
            yield f"{attempt} is {state}, and its program never came to its end"
    if history.stored:
        yield from (f"{attempt} is not in the store" for attempt in sorted(begun - history.stored.keys()))


def grouped(items: Iterable[Item], key: Callable[[Item], Key]) -> dict[Key, list[Item]]:
    found: defaultdict[Key, list[Item]] = defaultdict(list)
    for item in items:
        found[key(item)].append(item)
    return found
