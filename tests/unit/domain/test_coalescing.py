"""Coalescing: of all that is due only the latest instant counts, whether it runs or is missed."""

from datetime import UTC, datetime, timedelta

import pytest

from waterclock.domain.planning import COALESCED, Misfire, Policy, latest, plan
from waterclock.domain.schedule import Every, Once, to_us

NOON = datetime(2026, 11, 16, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
EVERY_MINUTE = Every(interval=MINUTE, anchor=NOON)


def coalescing(grace: timedelta = MINUTE) -> Misfire:
    return Misfire(policy=Policy.SKIP, grace=grace, coalesce=True)


def test_one_that_is_due_runs_and_nothing_is_skipped() -> None:
    found = plan(EVERY_MINUTE, NOON, NOON + timedelta(seconds=5), coalescing())
    assert (found.fires, found.skips, found.next_at) == ((NOON,), (), NOON + MINUTE)


def test_the_latest_runs_for_all_that_are_due() -> None:
    found = plan(EVERY_MINUTE, NOON, NOON + 3 * MINUTE + timedelta(seconds=5), coalescing())
    (skip,) = found.skips
    assert found.fires == (NOON + 3 * MINUTE,)
    assert (skip.first, skip.last, skip.count) == (NOON, NOON + 2 * MINUTE, 3)
    assert skip.reason.startswith(COALESCED)


def test_where_the_latest_is_too_late_all_are_missed() -> None:
    found = plan(EVERY_MINUTE, NOON, NOON + 3 * MINUTE + timedelta(seconds=5), coalescing(timedelta(seconds=1)))
    (skip,) = found.skips
    assert (found.fires, found.next_at) == ((), NOON + 4 * MINUTE)
    assert (skip.first, skip.last, skip.count) == (NOON, NOON + 3 * MINUTE, 4)
    assert skip.reason.startswith("missed")


@pytest.mark.parametrize("late", [0, 60, 61])
def test_the_grace_itself_is_in_time(late: int) -> None:
    found = plan(Once(at=NOON), NOON, NOON + timedelta(seconds=late), coalescing())
    assert (found.fires, found.next_at) == ((NOON,) if late <= 60 else (), None)


def test_a_year_of_seconds_costs_no_more_than_a_minute_of_them() -> None:
    every_second = Every(interval=timedelta(seconds=1), anchor=NOON)
    found = plan(every_second, NOON, NOON + timedelta(days=366), coalescing(timedelta(days=10_000)))
    assert (len(found.fires), found.skips[0].count) == (1, 366 * 86_400)


def test_a_due_instant_that_the_schedule_does_not_know_runs_all_the_same() -> None:
    asked_for = NOON + timedelta(seconds=20)
    found = plan(EVERY_MINUTE, asked_for, NOON + timedelta(seconds=25), coalescing())
    assert (found.fires, found.skips, found.next_at) == ((asked_for,), (), NOON + MINUTE)


def test_the_latest_instants_of_a_span_oldest_first() -> None:
    first, last = to_us(NOON), to_us(NOON + 5 * MINUTE)
    step = 60_000_000
    assert latest(EVERY_MINUTE, first, last, 100) == tuple(range(first, last + 1, step))
    assert latest(EVERY_MINUTE, first, last, 2) == (last - step, last)
    assert latest(EVERY_MINUTE, first, first, 100) == (first,)
