"""A trigger only known by its answers is asked as APScheduler asks it: with the fire that truly came before."""

from datetime import UTC, datetime, timedelta

from waterclock.faces.library.foreign import schedule_of
from waterclock.triggers.base import BaseTrigger

NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)
STEP = timedelta(minutes=10)


class Steps(BaseTrigger):
    """A fire every ten minutes after the one before, wherever that was; it remembers what it was asked."""

    def __init__(self, end: datetime | None = None) -> None:
        self.end = end
        self.asked = set[datetime | None]()

    def get_next_fire_time(self, previous_fire_time: datetime | None, now: datetime) -> datetime | None:
        self.asked.add(previous_fire_time)
        fire = previous_fire_time + STEP if previous_fire_time else now
        return fire if self.end is None or fire <= self.end else None


class Stuck(BaseTrigger):
    def get_next_fire_time(self, previous_fire_time: datetime | None, now: datetime) -> datetime | None:
        return NOON


def test_its_fires_stay_on_their_grid_however_late_it_is_asked() -> None:
    trigger = Steps()
    schedule = schedule_of(trigger, NOON)
    late = NOON + timedelta(minutes=3)
    for step in range(1, 5):
        assert schedule.last_at_or_before(late) == NOON + (step - 1) * STEP
        assert schedule.next_after(late) == NOON + step * STEP
        late = late + STEP
    assert trigger.asked == {NOON + step * STEP for step in range(4)}


def test_what_was_missed_is_walked_through() -> None:
    schedule = schedule_of(Steps(end=NOON + 5 * STEP), NOON)
    assert schedule.last_at_or_before(NOON + timedelta(minutes=39)) == NOON + 3 * STEP
    assert schedule.last_at_or_before(NOON + timedelta(hours=9)) == NOON + 5 * STEP
    assert schedule.next_after(NOON + timedelta(hours=9)) is None


def test_one_that_never_gets_on_has_ended() -> None:
    assert schedule_of(Stuck(), NOON).next_after(NOON + STEP) is None
