"""The cron trigger runs a job when all its fields match; it reads crontabs too, can end, and can be put off a little.

Prints:
    third Fridays: ['2014-05-01', '2014-06-20 00:00', '2014-06-20 01:00']
    weekdays until the end: ['2014-05-29', '2014-05-29 05:30', 'None']
    last Sundays: ['2014-05-01', '2014-05-25 00:00', '2014-06-29 00:00']
    crontab: ['2014-05-15', '2014-05-15 00:00', '2014-06-01 00:00']
    within two minutes of the hour: True
    every second ran
"""

from datetime import UTC, datetime
from queue import Queue

from waterclock.schedulers.background import BackgroundScheduler
from waterclock.triggers.base import BaseTrigger
from waterclock.triggers.cron import CronTrigger

said = Queue[str]()
sched = BackgroundScheduler(timezone="UTC")


def job_function() -> None:
    said.put("every second")


@sched.scheduled_job("cron", id="my_job_id", day="last sun")
def some_decorated_task() -> None:
    said.put("on the last Sunday of the month")


def fires(trigger: BaseTrigger, after: str) -> list[str]:
    found, moment = [after], datetime.fromisoformat(after).replace(tzinfo=UTC)
    fire = trigger.get_next_fire_time(None, moment)
    for _ in range(2):
        found.append(f"{fire:%Y-%m-%d %H:%M}" if fire else "None")
        fire = trigger.get_next_fire_time(fire, fire) if fire else None
    return found


if __name__ == "__main__":
    third = sched.add_job(job_function, "cron", month="6-8,11-12", day="3rd fri", hour="0-3")
    print("third Fridays:", fires(third.trigger, "2014-05-01"))
    week = sched.add_job(job_function, "cron", day_of_week="mon-fri", hour=5, minute=30, end_date="2014-05-30")
    print("weekdays until the end:", fires(week.trigger, "2014-05-29"))
    decorated = sched.get_job("my_job_id")
    assert decorated
    print("last Sundays:", fires(decorated.trigger, "2014-05-01"))
    crontab = sched.add_job(job_function, CronTrigger.from_crontab("0 0 1-15 may-aug *", timezone="UTC"))
    print("crontab:", fires(crontab.trigger, "2014-05-15"))
    hourly = sched.add_job(job_function, "cron", hour="*", jitter=120)
    fire = hourly.trigger.get_next_fire_time(None, datetime(2014, 5, 1, 12, tzinfo=UTC))
    assert fire
    print("within two minutes of the hour:", fire.minute in (0, 1, 2, 58, 59))
    sched.remove_all_jobs()
    sched.add_job(job_function, "cron", second="*")
    sched.start()
    print(said.get(timeout=10), "ran")
    sched.shutdown()
