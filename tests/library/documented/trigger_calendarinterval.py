"""The calendar interval trigger runs a job at a time of day, every so many months or weeks.

Prints:
    every 1 months: 2019-07-16 15:36
    every 2 months: 2019-06-16 15:36, 2019-08-16 15:36, none after 2020-03-16
    every 2 weeks: 2019-06-30 00:00
    3 jobs
"""

from datetime import UTC, datetime

from waterclock.job import Job
from waterclock.schedulers.background import BackgroundScheduler
from waterclock.triggers.calendarinterval import CalendarIntervalTrigger

NOW = datetime(2019, 6, 16, tzinfo=UTC)
sched = BackgroundScheduler(timezone="UTC")


@sched.scheduled_job("calendarinterval", id="my_job_id", weeks=2, start_date="2019-06-16")
def job_function() -> None:
    print("Hello World")


def shown(job: Job) -> str:
    trigger = job.trigger
    assert isinstance(trigger, CalendarIntervalTrigger)
    return f"every {trigger.months} months:" if trigger.months else f"every {trigger.weeks} weeks:"


if __name__ == "__main__":
    monthly = sched.add_job(job_function, "calendarinterval", months=1, hour=15, minute=36, start_date="2019-06-16")
    print(shown(monthly), f"{monthly.trigger.get_next_fire_time(NOW.replace(hour=15, minute=36), NOW):%Y-%m-%d %H:%M}")

    limited = sched.add_job(
        *(job_function, "calendarinterval"),
        months=2,
        start_date="2019-06-16",
        end_date="2020-03-16",
        hour=15,
        minute=36,
    )
    first = limited.trigger.get_next_fire_time(None, NOW)
    second = limited.trigger.get_next_fire_time(first, NOW)
    last = datetime(2020, 2, 16, 15, 36, tzinfo=UTC)
    assert limited.trigger.get_next_fire_time(last, last) is None
    print(shown(limited), f"{first:%Y-%m-%d %H:%M}, {second:%Y-%m-%d %H:%M}, none after 2020-03-16")

    decorated = sched.get_job("my_job_id")
    assert decorated
    print(shown(decorated), f"{decorated.trigger.get_next_fire_time(NOW, NOW):%Y-%m-%d %H:%M}")
    sched.start(paused=True)
    print(len(sched.get_jobs()), "jobs")
    sched.shutdown()
