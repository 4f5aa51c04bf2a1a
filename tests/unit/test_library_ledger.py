"""The judge of a library's ledger: a good one passes, and one that was doctored anywhere does not."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from tests.acceptance.library_ledger import Fire, Ledger, Line, Try, faults_of
from waterclock.chaos.evidence import END, START
from waterclock.domain.moment import SECOND
from waterclock.domain.outcome import WORKER_LOST

KILLED, KILLED_TOO, ALIVE = 7, 8, 9
DUE = [second * SECOND for second in (10, 12, 14, 16, 18, 20)]
DONE, LOST, COALESCED, COVERED, CAPPED, RETRIED = DUE


def fire(first: int, last: int = 0, *, outcome: str = "FIRED", instants: int = 1) -> Fire:
    return Fire(work="job", outcome=outcome, first_at=first, last_at=last or first, instants=instants)


def tried(at: int, *, lost_by: int | None = None, number: int = 0) -> Try:
    end: dict[str, Any] = {"state": "SUCCEEDED", "call": f"{at}-{number}", "pid": ALIVE}
    if lost_by:
        end = {"state": "FAILED", "message": WORKER_LOST, "pid": lost_by}
    return Try(work="job", run=f"run of {at}", number=number, fire_at=at, retries=2 * (at == RETRIED), **end)


def lines(at: int, *, pid: int = ALIVE, number: int = 0) -> list[Line]:
    start = Line(event=START, work="job", call=f"{at}-{number}", pid=pid, at=at + (1 + number) * 100_000)
    return [start, replace(start, event=END, at=start.at + 50_000)]


GOOD = Ledger(
    fires=[
        fire(DONE),
        fire(LOST),
        fire(COALESCED, COVERED, outcome="SKIPPED", instants=2),
        fire(CAPPED, outcome="SKIPPED"),
        fire(RETRIED),
    ],
    tries=[tried(DONE), tried(LOST, lost_by=KILLED), tried(RETRIED, lost_by=KILLED_TOO), tried(RETRIED, number=1)],
    lines=[
        *lines(DONE),
        *lines(LOST, pid=KILLED)[:1],
        *lines(RETRIED, number=1),  # the first attempt was killed before its job began
    ],
    due={"job": DUE},
    killed=[KILLED, KILLED_TOO],
    read_at=60 * SECOND,
)


def each_but(index: int, items: Any) -> list[Any]:
    return [item for number, item in enumerate(items) if number != index]


def changed(index: int, items: Any, **changes: Any) -> list[Any]:
    return [replace(item, **changes) if number == index else item for number, item in enumerate(items)]


def test_a_good_ledger_passes() -> None:
    assert faults_of(GOOD) == []


@pytest.mark.parametrize("index", range(len(GOOD.fires)))
def test_a_fire_that_was_dropped_doubled_or_shifted_is_found(index: int) -> None:
    at = GOOD.fires[index].first_at
    for doctored in (
        each_but(index, GOOD.fires),
        [*GOOD.fires, GOOD.fires[index]],
        changed(index, GOOD.fires, first_at=at - SECOND),
        changed(index, GOOD.fires, work="nobody's"),
    ):
        assert faults_of(replace(GOOD, fires=doctored)) != []


@pytest.mark.parametrize("index", range(len(GOOD.tries)))
def test_an_attempt_that_was_dropped_doubled_or_shifted_is_found(index: int) -> None:
    for doctored in (
        each_but(index, GOOD.tries),
        [*GOOD.tries, replace(GOOD.tries[index], run="another")],
        changed(index, GOOD.tries, fire_at=GOOD.tries[index].fire_at - SECOND),
        changed(index, GOOD.tries, ends=2),
        changed(index, GOOD.tries, ends=0, state="RUNNING"),
    ):
        assert faults_of(replace(GOOD, tries=doctored)) != []


@pytest.mark.parametrize(
    ("index", "doctor"),
    [
        (0, lambda line: replace(line, call="another")),
        (0, lambda line: replace(line, at=line.at - SECOND)),  # early
        (0, lambda line: replace(line, work="nobody's")),
        (2, lambda line: replace(line, pid=ALIVE)),  # a process that lives has run what was lost elsewhere
    ],
)
def test_a_line_that_was_changed_is_found(index: int, doctor: Callable[[Line], Line]) -> None:
    doctored = [doctor(line) if number == index else line for number, line in enumerate(GOOD.lines)]
    assert faults_of(replace(GOOD, lines=doctored)) != []


@pytest.mark.parametrize("index", [0, 1, 3, 4])
def test_lines_of_a_success_that_are_missing_are_found(index: int) -> None:
    assert faults_of(replace(GOOD, lines=each_but(index, GOOD.lines))) != []


@pytest.mark.parametrize("pid", [ALIVE, KILLED])
@pytest.mark.parametrize("at", [DONE, LOST, CAPPED])
def test_a_call_beyond_those_that_the_ledger_has_is_found(pid: int, at: int) -> None:
    """Whoever made it: a second run of one that is done, of one that was lost, or of one that was skipped."""
    extra = replace(lines(at, pid=pid)[0], call="once more")
    assert faults_of(replace(GOOD, lines=[*GOOD.lines, extra])) != []


@pytest.mark.parametrize(("index", "retries"), [(1, 1), (2, 0), (3, 0)])
def test_a_retry_that_is_missing_or_was_not_asked_for_is_found(index: int, retries: int) -> None:
    doctored = changed(index, GOOD.tries, retries=retries)
    same = [each if each.run != doctored[index].run else replace(each, retries=retries) for each in doctored]
    assert faults_of(replace(GOOD, tries=same)) != []


def test_what_was_lost_without_a_kill_and_what_failed_otherwise_is_found() -> None:
    assert faults_of(replace(GOOD, killed=[])) != []
    assert faults_of(replace(GOOD, tries=changed(0, GOOD.tries, state="FAILED", message="OSError: full"))) != []
