"""An `and` of triggers runs a job when all of them would: every third day, if it is a Saturday or a Sunday.

Prints:
    next run on a weekend: True
"""

from waterclock.schedulers.background import BackgroundScheduler
from waterclock.triggers.calendarinterval import CalendarIntervalTrigger
from waterclock.triggers.combining import AndTrigger
from waterclock.triggers.cron import CronTrigger


def job_function() -> None:
    pass


if __name__ == "__main__":
    trigger = AndTrigger([CalendarIntervalTrigger(days=3), CronTrigger(day_of_week="sat,sun")])
    scheduler = BackgroundScheduler()
    scheduler.start()
    job = scheduler.add_job(job_function, trigger)
    assert job.next_run_time
    print("next run on a weekend:", job.next_run_time.weekday() in (5, 6))
    scheduler.shutdown()
