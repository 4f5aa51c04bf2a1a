"""A trigger of one's own is given as an object, or by the name of its entry point with its arguments.

Prints:
    as an object: ran 3 times
    by its name: ran 2 times
"""

from datetime import UTC, datetime, timedelta, tzinfo
from queue import Queue
from threading import Event
from typing import Any

from waterclock.events import EVENT_JOB_REMOVED
from waterclock.schedulers.background import BackgroundScheduler
from waterclock.triggers.base import BaseTrigger

STEP = timedelta(seconds=0.05)
ran = Queue[str]()


class MyTrigger(BaseTrigger):
    """So many fires, each a little after the one before, the first at once."""

    def __init__(self, times: int, timezone: tzinfo = UTC) -> None:
        self.first = datetime.now(timezone)
        self.last = self.first + (times - 1) * STEP

    def get_next_fire_time(self, previous_fire_time: datetime | None, now: datetime) -> datetime | None:
        fire = previous_fire_time + STEP if previous_fire_time else self.first
        return fire if fire <= self.last else None


def runs(trigger: BaseTrigger | str, **trigger_args: Any) -> int:
    """How often a job has run when its trigger has ended."""
    ended = Event()
    scheduler = BackgroundScheduler()
    scheduler.add_listener(lambda event: ended.set(), EVENT_JOB_REMOVED)
    scheduler.start()
    scheduler.add_job(
        ran.put, trigger, args=["ran"], misfire_grace_time=None, coalesce=False, max_instances=3, **trigger_args
    )
    assert ended.wait(10)
    scheduler.shutdown()
    return len([ran.get() for _ in range(ran.qsize())])


if __name__ == "__main__":
    print("as an object: ran", runs(MyTrigger(times=3)), "times")
    print("by its name: ran", runs("my_trigger", times=2), "times")
