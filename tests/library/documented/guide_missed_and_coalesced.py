"""Instants that passed are run one by one, or rolled into one, or are missed when they are later than the grace.

Prints:
    each: 4 executed, none missed
    rolled: 1 executed, none missed
    graced: 2 executed, others missed
    too_late: 0 executed, others missed
"""

from collections import Counter
from datetime import UTC, datetime, timedelta
from queue import Queue

from waterclock.events import EVENT_JOB_EXECUTED, EVENT_JOB_MISSED, JobExecutionEvent
from waterclock.schedulers.background import BackgroundScheduler

GRACE = {"each": None, "rolled": None, "graced": 2 * 3600, "too_late": 60}
RUNS = 4 + 1 + 2


if __name__ == "__main__":
    began = datetime.now(UTC) - timedelta(hours=3, minutes=30)
    events = Queue[JobExecutionEvent]()
    scheduler = BackgroundScheduler(timezone=UTC)
    scheduler.add_listener(events.put, EVENT_JOB_EXECUTED | EVENT_JOB_MISSED)
    for name, grace in GRACE.items():
        scheduler.add_job(
            *("os:getpid", "interval"),
            hours=1,
            start_date=began,
            next_run_time=began,
            misfire_grace_time=grace,
            coalesce=name in ("rolled", "too_late"),
            id=name,
        )
    scheduler.start()
    executed, missed = Counter[str](), set[str]()
    while executed.total() < RUNS or len(missed) < 2:
        event = events.get(timeout=10)
        if event.code == EVENT_JOB_EXECUTED:
            executed[event.job_id] += 1
        else:
            missed.add(event.job_id)
    scheduler.shutdown()
    for name in GRACE:
        print(f"{name}: {executed[name]} executed, {'others' if name in missed else 'none'} missed")
