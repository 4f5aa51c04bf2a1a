"""What holds for every expression in every zone, near changes of the clocks most of all."""

from contextlib import suppress
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.unit.schedules import oracle
from tests.unit.schedules.strategies import crontabs, quartz, zoned_moments
from waterclock.domain.errors import BadSchedule
from waterclock.domain.schedule import Cron, Fold, Gap, from_json, parse_schedule, to_json, to_us
from waterclock.domain.schedule.moment import END

TICK = timedelta(microseconds=1)
policies = st.tuples(st.sampled_from(Gap), st.sampled_from(Fold))


def _cron(expression: str, zone: str, policy: tuple[Gap, Fold]) -> Cron:
    try:
        return Cron(expression=expression, timezone=zone, gap=policy[0], fold=policy[1])
    except BadSchedule as refused:
        assume("never fires" not in str(refused))
        raise


def _following(schedule: Cron, moment: datetime, count: int) -> list[datetime]:
    found: list[datetime] = []
    following = schedule.next_after(moment)
    while following is not None and len(found) < count:
        found.append(following)
        following = schedule.next_after(following)
    return found


@settings(max_examples=200, deadline=None)
@given(crontabs | quartz, zoned_moments(), policies)
def test_fires_strictly_increase_and_looking_back_finds_the_same(
    expression: str, where: tuple[str, datetime], policy: tuple[Gap, Fold]
) -> None:
    zone, moment = where
    schedule, previous = _cron(expression, zone, policy), moment
    for fire in _following(schedule, moment, 12):
        assert fire > previous
        assert schedule.last_at_or_before(fire) == fire
        assert schedule.next_after(fire - TICK) == fire
        if previous > moment:
            assert schedule.last_at_or_before(fire - TICK) == previous
        previous = fire


@settings(max_examples=150, deadline=None)
@given(crontabs, zoned_moments(), policies)
def test_crontabs_fire_as_the_oracle_says(
    expression: str, where: tuple[str, datetime], policy: tuple[Gap, Fold]
) -> None:
    zone, moment = where
    plain = oracle.plain_crontab(expression)
    caught, twice = policy[0] is Gap.RUN_AT_JUMP, policy[1] is Fold.TWICE
    expected = oracle.fires(plain, zone, moment, 6, catch_gap=caught, twice=twice)
    assert _following(_cron(expression, zone, policy), moment, 6) == expected


@settings(max_examples=150, deadline=None)
@given(quartz, zoned_moments(), policies)
def test_quartz_expressions_fire_as_the_oracle_says(
    expression: str, where: tuple[str, datetime], policy: tuple[Gap, Fold]
) -> None:
    zone, moment = where
    schedule, plain = _cron(expression, zone, policy), oracle.plain_quartz(expression)
    caught, twice = policy[0] is Gap.RUN_AT_JUMP, policy[1] is Fold.TWICE
    found = _following(schedule, moment, 4)
    assume(found and found[-1] - moment < timedelta(days=3_000))
    assert found == oracle.fires(plain, zone, moment, len(found), catch_gap=caught, twice=twice)


@settings(max_examples=150, deadline=None)
@given(crontabs | quartz, zoned_moments(), policies, st.integers(0, 30))
def test_counting_agrees_with_walking(
    expression: str, where: tuple[str, datetime], policy: tuple[Gap, Fold], steps: int
) -> None:
    zone, moment = where
    schedule = _cron(expression, zone, policy)
    walked = _following(schedule, moment, steps)
    if walked:
        assert schedule.count_us(to_us(moment), to_us(walked[-1])) == (len(walked), True)
        assert schedule.count_us(to_us(walked[0]), to_us(walked[-1])) == (len(walked) - 1, True)


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from(("8 3", "1 11", "29 3", "25 10", "29 2", "31 12", "1 1", "1 2,12")),
    st.sampled_from(("0", "1", "3", "4", "5", "23")),
    st.lists(st.integers(1990, 2060), min_size=1, max_size=4, unique=True).map(sorted),
    st.sampled_from(("America/New_York", "Europe/Berlin", "Pacific/Apia", "Australia/Lord_Howe", "UTC")),
)
def test_rare_fires_are_found_alike_from_before_and_from_behind(
    days: str, hour: str, years: list[int], zone: str
) -> None:
    text = f"0 0 {hour} {days} ? {','.join(map(str, years))}"
    schedule = _cron(text, zone, (Gap.RUN_AT_JUMP, Fold.ONCE))
    forward = _following(schedule, datetime(1980, 1, 1, tzinfo=UTC), 20)
    backward, moment = [], schedule.last_at_or_before(datetime(2199, 1, 1, tzinfo=UTC))
    while moment is not None:
        backward.append(moment)
        moment = schedule.last_at_or_before(moment - TICK)
    assert backward[::-1] == forward
    months = len(days.split()[1].split(","))
    assert len(forward) == (sum(year % 4 == 0 for year in years) if days == "29 2" else len(years) * months)
    local = [fire.astimezone(ZoneInfo(zone)).replace(tzinfo=None) for fire in forward]
    assert {f"{fire.day}" for fire in local} <= {days.split(maxsplit=1)[0]}


@settings(max_examples=200, deadline=None)
@given(crontabs | quartz, zoned_moments(), policies)
def test_a_schedule_survives_its_json(expression: str, where: tuple[str, datetime], policy: tuple[Gap, Fold]) -> None:
    schedule = _cron(expression, where[0], policy)
    kept = from_json(to_json(schedule))
    assert kept == schedule
    assert hash(kept) == hash(schedule)
    assert kept.next_after(where[1]) == schedule.next_after(where[1])


@settings(max_examples=150, deadline=None)
@given(crontabs | quartz, st.integers(-(10**17), 10**17))
def test_any_moment_at_all_is_answered(expression: str, us: int) -> None:
    schedule = _cron(expression, "America/New_York", (Gap.RUN_AT_JUMP, Fold.ONCE))
    following, last = schedule.next_after_us(us), schedule.last_at_or_before_us(us)
    assert following is None or us < following < END
    assert last is None or 0 <= last <= us


@settings(max_examples=600, deadline=None)
@given(
    st.text(max_size=60)
    | st.text(alphabet="0123456789*/-,?LW#@ ()cronateMONJAN:T", max_size=40)
    | st.lists(st.text(alphabet="0123456789*/-,?LW#", min_size=1, max_size=6), min_size=5, max_size=7).map(" ".join)
    | st.lists(st.text(alphabet="0123456789*/-,?LW#", min_size=1, max_size=6), min_size=6, max_size=6).map(
        lambda fields: f"cron({' '.join(fields)})"
    ),
    st.sampled_from(("UTC", "Europe/Berlin")) | st.text(max_size=20),
)
def test_garbage_is_a_bad_schedule_and_nothing_else(text: str, zone: str) -> None:
    with suppress(BadSchedule):
        schedule = parse_schedule(text, timezone=zone)
        schedule.next_after(datetime(2026, 11, 15, tzinfo=UTC))
