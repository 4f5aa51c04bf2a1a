"""The date trigger runs a job once: on a date, at a time, at a time given as text, or now.

Prints:
    missed 2009-11-06 00:00:00
    missed 2009-11-06 16:30:05
    missed 2009-11-06 16:30:05
    soon
    now
    []
"""

from datetime import date, datetime, timedelta
from queue import Queue

from waterclock.events import EVENT_JOB_MISSED, JobExecutionEvent
from waterclock.schedulers.background import BackgroundScheduler

said = Queue[str]()


def my_job(text: str) -> None:
    said.put(text)


def missed(event: JobExecutionEvent) -> None:
    said.put(f"missed {event.scheduled_run_time:%Y-%m-%d %H:%M:%S}")


if __name__ == "__main__":
    sched = BackgroundScheduler(timezone="UTC")
    sched.add_listener(missed, EVENT_JOB_MISSED)
    sched.start()
    sched.add_job(my_job, "date", run_date=date(2009, 11, 6), args=["long ago"])
    print(said.get(timeout=10))
    exactly = datetime(2009, 11, 6, 16, 30, 5)  # noqa: DTZ001  # as the documentation has it: local to the scheduler
    sched.add_job(my_job, "date", run_date=exactly, args=["long ago"])
    print(said.get(timeout=10))
    sched.add_job(my_job, "date", run_date="2009-11-06 16:30:05", args=["long ago"])
    print(said.get(timeout=10))
    sched.add_job(
        my_job,
        "date",
        run_date=datetime.now(sched.timezone) + timedelta(seconds=0.05),
        args=["soon"],
        misfire_grace_time=None,
    )
    print(said.get(timeout=10))
    sched.add_job(my_job, args=["now"], misfire_grace_time=None)
    print(said.get(timeout=10))
    print(sched.get_jobs())
    sched.shutdown()
