"""Misfire planning: what runs, what is skipped, what is next; bounded after any outage."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from waterclock.domain.errors import InvalidInput
from waterclock.domain.planning import MOST_IN_TIME, Misfire, Plan, Policy, plan
from waterclock.domain.schedule import Combined, Cron, Every, Fold, How, Once, Schedule, parse_schedule

DUE = datetime(2026, 11, 15, 12, tzinfo=UTC)
SECOND, MINUTE, HOUR = timedelta(seconds=1), timedelta(minutes=1), timedelta(hours=1)
EVERY_SECOND = Cron(expression="* * * * * ?")
EVERY_MINUTE = Cron(expression="* * * * *")


def _plan(schedule: Schedule, late: timedelta, policy: Policy = Policy.ONE, cap: int = 100) -> Plan:
    return plan(schedule, DUE, DUE + late, Misfire(policy=policy, cap=cap))


def test_before_the_due_instant_nothing_happens() -> None:
    assert _plan(EVERY_MINUTE, -SECOND) == Plan(next_at=DUE)


@pytest.mark.parametrize("policy", Policy)
def test_a_fire_within_the_grace_just_runs(policy: Policy) -> None:
    assert _plan(EVERY_MINUTE, 59 * SECOND, policy) == Plan(fires=(DUE,), next_at=DUE + MINUTE)
    assert _plan(EVERY_MINUTE, 60 * SECOND, policy).fires == (DUE, DUE + MINUTE)


def test_later_than_the_grace_it_is_missed_and_policy_one_runs_the_latest() -> None:
    made = plan(Cron(expression="0 * * * *"), DUE, DUE + 2 * HOUR + 2 * MINUTE, Misfire())
    assert made.fires == (DUE + 2 * HOUR,)
    assert [(span.first, span.last, span.count) for span in made.skips] == [(DUE, DUE + HOUR, 2)]
    assert made.next_at == DUE + 3 * HOUR
    assert "60 s" in made.skips[0].reason


def test_policy_one_makes_up_for_nothing_when_a_fire_is_in_time() -> None:
    made = _plan(EVERY_MINUTE, 5 * MINUTE + SECOND)
    assert made.fires == (DUE + 5 * MINUTE,)
    assert made.skips[0].count == 5


def test_policy_skip_records_all_that_was_missed() -> None:
    made = _plan(EVERY_MINUTE, 10 * MINUTE + SECOND, Policy.SKIP)
    assert made.fires == (DUE + 10 * MINUTE,)
    assert (made.skips[0].first, made.skips[0].last, made.skips[0].count) == (DUE, DUE + 9 * MINUTE, 10)


def test_policy_all_runs_the_last_missed_up_to_the_cap() -> None:
    made = _plan(EVERY_MINUTE, 10 * MINUTE + SECOND, Policy.ALL, cap=3)
    assert made.fires == tuple(DUE + n * MINUTE for n in (7, 8, 9, 10))
    assert (made.skips[0].last, made.skips[0].count) == (DUE + 6 * MINUTE, 7)


def test_policy_all_under_the_cap_skips_nothing() -> None:
    made = _plan(EVERY_MINUTE, 10 * MINUTE + SECOND, Policy.ALL)
    assert made.fires == tuple(DUE + n * MINUTE for n in range(11))
    assert made.skips == ()


def test_a_single_missed_moment_is_made_up_for_or_skipped() -> None:
    assert _plan(Once(at=DUE), HOUR) == Plan(fires=(DUE,))
    skipped = _plan(Once(at=DUE), HOUR, Policy.SKIP)
    assert (skipped.fires, skipped.skips[0].count, skipped.next_at) == ((), 1, None)


def test_a_due_instant_that_the_schedule_no_longer_knows_still_counts() -> None:
    made = plan(Cron(expression="0 0 1 1 *"), DUE, DUE + HOUR, Misfire())
    assert made == Plan(fires=(DUE,), next_at=datetime(2027, 1, 1, tzinfo=UTC))


@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin"])
@pytest.mark.parametrize("late", [HOUR, timedelta(days=365)])
def test_a_long_outage_of_a_per_second_trigger_is_planned_exactly_and_briefly(zone: str, late: timedelta) -> None:
    made = _plan(Cron(expression="* * * * * ?", timezone=zone, fold=Fold.TWICE), late, Policy.ALL, cap=50)
    seconds = int(late.total_seconds())
    assert len(made.fires) == 61 + 50
    assert made.skips[0].count == seconds + 1 - 111
    assert not made.skips[0].approximate
    assert made.next_at == DUE + late + SECOND


def test_a_long_outage_of_two_per_second_triggers_in_one_is_counted_roughly_and_says_so() -> None:
    both = Combined(how=How.ANY, schedules=(EVERY_SECOND, Every(interval=SECOND, anchor=DUE + SECOND / 2)))
    made = _plan(both, timedelta(days=365))
    assert made.skips[0].approximate
    assert made.skips[0].count > 365 * 86_400


def test_more_in_time_than_one_plan_takes_stays_due() -> None:
    grace = Misfire(grace=timedelta(hours=2))
    first = plan(EVERY_SECOND, DUE, DUE + HOUR, grace)
    assert len(first.fires) == MOST_IN_TIME
    assert first.next_at == DUE + MOST_IN_TIME * SECOND
    seen, following = list(first.fires), first
    while following.next_at is not None and following.next_at <= DUE + HOUR:
        following = plan(EVERY_SECOND, following.next_at, DUE + HOUR, grace)
        seen += following.fires
    assert seen == [DUE + n * SECOND for n in range(3_601)]


@settings(max_examples=300, deadline=None)
@given(
    st.sampled_from(("*/7 * * * *", "0 */3 * * *", "0/13 * * * * ?", "30 2 * * *", "rate(11 minutes)", "0 0 L * ?")),
    st.sampled_from(("UTC", "Europe/Berlin", "Australia/Lord_Howe")),
    st.integers(0, 3 * 86_400),
    st.sampled_from(Policy),
    st.integers(1, 20),
    st.integers(0, 7_200),
)
def test_every_instant_is_run_or_skipped_exactly_once(
    text: str, zone: str, late: int, policy: Policy, cap: int, grace: int
) -> None:
    text = "0 0 0 L * ?" if text == "0 0 L * ?" else text
    schedule = parse_schedule(text, timezone=zone)
    due = schedule.next_after(datetime(2026, 10, 24, tzinfo=UTC))
    assert due is not None
    now = due + timedelta(seconds=late)
    made = plan(schedule, due, now, Misfire(policy=policy, cap=cap, grace=timedelta(seconds=grace)))
    instants = [due]
    while (following := schedule.next_after(instants[-1])) is not None and following <= now:
        instants.append(following)
    skipped = sum(span.count for span in made.skips)
    assert list(made.fires) == instants[skipped : skipped + len(made.fires)]
    assert all((span.first, span.last) == (instants[0], instants[skipped - 1]) for span in made.skips)
    complete = skipped + len(made.fires) == len(instants)
    assert complete or made.next_at == instants[skipped + len(made.fires)]
    assert not complete or made.next_at == schedule.next_after(now)


@pytest.mark.parametrize(("field", "value"), [("cap", 0), ("cap", 10**9), ("grace", -SECOND)])
def test_a_senseless_misfire_policy_is_refused(field: str, value: object) -> None:
    with pytest.raises(InvalidInput, match=field):
        Misfire(**{field: value})  # type: ignore[arg-type]
