"""The ledger of a library's store, held against its schedules and against the lines that the jobs wrote. Pure.

A job does not know which of its runs it is: it returns what its line says, and the ledger keeps that as the result.
What came to no end has no result: its line must belong to an attempt that the ledger gave up for lost in that process.
"""

import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from waterclock.chaos.checker import History, check, grouped
from waterclock.chaos.evidence import START, Mark
from waterclock.domain.moment import SECOND, Moment
from waterclock.domain.outcome import WORKER_LOST
from waterclock.domain.run import ENDED, RunState

FIRED: Final = "FIRED"


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """What a job wrote."""

    event: str
    work: str
    call: str
    pid: int
    at: Moment


@dataclass(frozen=True, slots=True, kw_only=True)
class Fire:
    work: str
    outcome: str
    first_at: Moment
    last_at: Moment
    instants: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Try:
    """An attempt; `pid` is of the process that claimed it last, `ends` how often it was moved to a final state."""

    work: str
    run: str
    number: int
    fire_at: Moment
    state: str
    message: str | None = None
    call: str | None = None  # what it returned
    pid: int | None = None
    ends: int = 1
    retries: int = 0  # that the run was given

    @property
    def is_lost(self) -> bool:
        return self.state == RunState.FAILED and self.message == WORKER_LOST

    def __str__(self) -> str:
        return f"{self.work} of {self.fire_at} (attempt {self.number})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ledger:
    """What is known when everything is over. `due` comes from an oracle, `killed` from whoever did it."""

    fires: Sequence[Fire]
    tries: Sequence[Try]
    lines: Sequence[Line]
    due: Mapping[str, Collection[Moment]]
    killed: Collection[int]
    read_at: Moment


def faults_of(ledger: Ledger) -> list[str]:
    found = (_instants, _fired, _ends, _retries, _unsaid)
    return [*(fault for faults in found for fault in faults(ledger)), *check(history_of(ledger)).faults]


def read_lines(path: Path) -> list[Line]:
    """Those that are whole: who is killed may leave a part."""
    text = path.read_text() if path.exists() else ""
    return [_line(json.loads(line)) for line in text[: text.rfind("\n") + 1].splitlines()]


def history_of(ledger: Ledger) -> History:
    """For the checker of all faces."""
    skips = grouped([fire for fire in ledger.fires if fire.outcome != FIRED], lambda fire: fire.work)
    lost = grouped([each for each in ledger.tries if each.is_lost], lambda each: each.work)
    return History(
        marks=_marks(ledger),
        read_at=ledger.read_at,
        due=ledger.due,
        skipped={work: [(fire.first_at, fire.last_at) for fire in fires] for work, fires in skips.items()},
        failed={work: [each.fire_at for each in tries] for work, tries in lost.items()},
        alone=[[work] for work in ledger.due],
        stored={(each.run, each.number): each.state for each in ledger.tries},
    )


def _instants(ledger: Ledger) -> Iterable[str]:
    """Each due instant stands there once, and nothing else does."""
    fires = grouped(ledger.fires, lambda fire: fire.work)
    for work, due in ledger.due.items():
        covered: Counter[Moment] = Counter()
        for fire in fires.pop(work, ()):
            instants = [at for at in due if fire.first_at <= at <= fire.last_at]
            covered.update(instants)
            if len(instants) != fire.instants or not {fire.first_at, fire.last_at} <= set(instants):
                yield f"invented: {fire}"
        yield from (f"not in the ledger: {work} of {at}" for at in due if at not in covered)
        yield from (f"{count} times in the ledger: {work} of {at}" for at, count in covered.items() if count > 1)
    yield from (f"invented: {fire}" for others in fires.values() for fire in others)


def _fired(ledger: Ledger) -> Iterable[str]:
    """What was fired has one run, and every run was fired."""
    fired = Counter((fire.work, fire.last_at) for fire in ledger.fires if fire.outcome == FIRED)
    runs = Counter((each.work, each.fire_at) for each in ledger.tries if each.number == 0)
    for work, at in fired.keys() | runs.keys():
        if (found := (fired[work, at], runs[work, at])) != (1, 1):
            yield f"{work} of {at}: {found[0]} fires and {found[1]} runs"


def _ends(ledger: Ledger) -> Iterable[str]:
    """One end each; lost is only what a killed process had."""
    for each in ledger.tries:
        if each.state not in ENDED or each.ends != 1:
            yield f"{each} is {each.state} and has ended {each.ends} times"
        if each.is_lost and each.pid not in ledger.killed:
            yield f"{each} is said to be lost, and its process {each.pid} was not killed"
        if not each.is_lost and each.state != RunState.SUCCEEDED:
            yield f"{each} is {each.state}: {each.message}"


def _retries(ledger: Ledger) -> Iterable[str]:
    """A lost attempt is followed by another while retries are left, and nothing else is."""
    for run, tries in grouped(ledger.tries, lambda each: each.run).items():
        numbers, lost = sorted(each.number for each in tries), [each.number for each in tries if each.is_lost]
        last = numbers[-1]
        if numbers != [*range(last + 1)] or last > tries[0].retries:
            yield f"{run} has the attempts {numbers}, and {tries[0].retries} retries"
        if not {*range(last)} <= {*lost} or (last in lost and last < tries[0].retries):
            yield f"{run}: of the attempts {numbers} the lost ones are {lost}, of {tries[0].retries} retries"


def _unsaid(ledger: Ledger) -> Iterable[str]:
    """Calls that no attempt knows of: something ran once more than the ledger says."""
    known = _calls(ledger)
    yield from (f"unknown: {line}" for line in ledger.lines if line.event == START and line.call not in known)
    for call, count in Counter(each.call for each in ledger.tries if each.call).items():
        if count > 1:
            yield f"{count} attempts have the result of the call {call}"


def _marks(ledger: Ledger) -> list[Mark]:
    known = _calls(ledger)
    return [
        Mark(
            event=line.event,
            work=line.work,
            run=of.run,
            attempt=of.number,
            fence=0,
            fire_at=of.fire_at,
            at=line.at,
        )
        for line in ledger.lines
        if (of := known.get(line.call))
    ]


def _calls(ledger: Ledger) -> dict[str, Try]:
    """The attempt of each call: the one that has its result, or else the lost one of the same work and process."""
    known = {each.call: each for each in ledger.tries if each.call}
    lost = {(each.work, each.pid): each for each in ledger.tries if each.is_lost}
    for line in ledger.lines:
        if line.event == START and line.call not in known and (of := lost.pop((line.work, line.pid), None)):
            known[line.call] = of
    return known


def _line(line: dict[str, Any]) -> Line:
    return Line(**{**line, "at": round(line["at"] * SECOND)})
