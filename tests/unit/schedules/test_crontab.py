"""Crontab forms answer as croniter does, asked live with thousands of random expressions."""

import random
from datetime import UTC, datetime, timedelta

import pytest
from croniter import CroniterBadDateError, croniter

from waterclock.domain.schedule import Cron, parse_schedule

START = datetime(2000, 1, 1, tzinfo=UTC)
MONTHS = ("jan", "feb", "MAR", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "DEC")
WEEKDAYS = ("sun", "mon", "TUE", "wed", "thu", "FRI", "sat")


def _field(rng: random.Random, low: int, high: int, names: tuple[str, ...] = ()) -> str:
    def value() -> str:
        number = rng.randint(low, high)
        return names[number - low] if names and rng.random() < 0.3 else str(number)

    def item() -> str:
        # Two different ends: croniter reads 27-27 as the whole circle, we read it as 27.
        first, last = sorted(rng.sample(range(low, high + 1), 2))
        step = rng.randint(1, max(1, high - low))
        return rng.choice(
            (value(), value(), f"{first}-{last}", f"{first}-{last}/{step}", f"*/{step}", f"{first}/{step}")
        )

    return ",".join(item() for _ in range(rng.choice((1, 1, 2, 3))))


def _expression(rng: random.Random) -> str:
    def maybe(field: str, stars: float) -> str:
        return "*" if rng.random() < stars else field

    return " ".join((
        maybe(_field(rng, 0, 59), 0.2),
        maybe(_field(rng, 0, 23), 0.3),
        maybe(_field(rng, 1, 31), 0.5),
        maybe(_field(rng, 1, 12, MONTHS), 0.6),
        maybe(_field(rng, 0, 6, WEEKDAYS), 0.5),
    ))  # fmt: skip


def _comparable(expression: str) -> bool:
    """Whether both mean the same by it. Told apart by rule:

    croniter takes a day field that is written out in whole (0-6) for a star, Vixie cron and we for a restriction; and
    what names only days such as 30 February is refused by us, while croniter gives up after fifty years.
    """
    fields, _ = croniter.expand(expression)
    whole = [fields[place] == ["*"] and not expression.split()[place].startswith("*") for place in (2, 4)]
    try:
        croniter(expression, START, implement_cron_bug=True).get_next(datetime)
    except CroniterBadDateError:
        return False
    return not any(whole)


def test_random_crontabs_fire_when_croniter_says() -> None:
    # implement_cron_bug is croniter's name for Vixie cron's rule: `*/2` does not count as a restricted day.
    rng = random.Random(5)
    for _ in range(2_500):
        expression = _expression(rng)
        if not _comparable(expression):
            continue
        moment = START + timedelta(seconds=rng.randint(0, 30 * 365 * 86_400))
        theirs, schedule = croniter(expression, moment, implement_cron_bug=True), Cron(expression=expression)
        for _ in range(3):
            expected = theirs.get_next(datetime)
            found = schedule.next_after(moment)
            assert found == expected, (expression, moment)
            moment = expected


def test_random_crontabs_fired_last_when_croniter_says() -> None:
    rng = random.Random(6)
    for _ in range(1_000):
        expression = _expression(rng)
        if not _comparable(expression):
            continue
        moment = START + timedelta(seconds=rng.randint(10 * 365 * 86_400, 30 * 365 * 86_400))
        theirs, schedule = croniter(expression, moment, implement_cron_bug=True), Cron(expression=expression)
        for _ in range(2):
            expected = theirs.get_prev(datetime)
            assert schedule.last_at_or_before(moment - timedelta(microseconds=1)) == expected, (expression, moment)
            moment = expected


@pytest.mark.parametrize(
    ("form", "means"),
    [
        ("@hourly", "0 * * * *"),
        ("@daily", "0 0 * * *"),
        ("@midnight", "0 0 * * *"),
        ("@weekly", "0 0 * * 0"),
        ("@monthly", "0 0 1 * *"),
        ("@yearly", "0 0 1 1 *"),
        ("@annually", "0 0 1 1 *"),
        ("0 12 * * 7", "0 12 * * 0"),
        ("0 12 * * 5-7", "0 12 * * 0,5,6"),
        ("0 12 * * fri-SUN", "0 12 * * 0,5,6"),
        ("0 12 * * 0-7", "0 12 * * *"),
        ("/5 * * * *", "*/5 * * * *"),
        ("/5 /2 /3 /4 /2", "*/5 */2 */3 */4 */2"),
        ("10/20 * * * *", "10,30,50 * * * *"),
        ("  0\t12 * * *  ", "0 12 * * *"),
    ],
)
def test_one_crontab_form_means_another(form: str, means: str) -> None:
    assert _fires(form) == _fires(means)


def test_days_of_month_and_week_are_either_or_when_both_are_restricted() -> None:
    assert [fire.day for fire in _fires("0 0 13 11 5", 6)] == [6, 13, 20, 27, 5, 12]


def test_a_starred_day_field_only_narrows_as_in_vixie_cron() -> None:
    assert [fire.day for fire in _fires("0 0 */2 11 5", 3)] == [13, 27, 5]


def _fires(expression: str, count: int = 40) -> list[datetime]:
    schedule, moment, found = parse_schedule(expression), datetime(2026, 10, 31, 23, 59, tzinfo=UTC), []
    for _ in range(count):
        following = schedule.next_after(moment)
        assert following is not None
        moment = following
        found.append(moment)
    return found
