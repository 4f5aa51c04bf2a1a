"""The interval trigger runs a job every so often, within two dates if they are given, and a little apart if asked.

Prints:
    interval[2:00:00] every 2:00:00
    interval[2:00:00] 2012-05-01 09:30:00
    interval[2:00:00] after its end: None
    interval[1:00:00] within two minutes: True
    Hello World, three times
"""

from datetime import UTC, datetime, timedelta
from queue import Queue

from waterclock.schedulers.background import BackgroundScheduler
from waterclock.triggers.interval import IntervalTrigger

said = Queue[str]()
MAY = datetime(2012, 5, 1, 8, tzinfo=UTC)

sched = BackgroundScheduler(timezone="UTC")


@sched.scheduled_job("interval", id="my_job_id", seconds=0.05)
def job_function() -> None:
    said.put("Hello World")


if __name__ == "__main__":
    every = sched.add_job(job_function, "interval", hours=2).trigger
    assert isinstance(every, IntervalTrigger)
    print(every, "every", every.interval)
    within = sched.add_job(
        *(job_function, "interval"), hours=2, start_date="2010-10-10 09:30:00", end_date="2014-06-15 11:00:00"
    ).trigger
    print(within, f"{within.get_next_fire_time(None, MAY):%Y-%m-%d %H:%M:%S}")
    print(within, "after its end:", within.get_next_fire_time(None, datetime(2014, 6, 15, 11, 30, tzinfo=UTC)))
    apart = sched.add_job(job_function, "interval", hours=1, start_date=MAY, jitter=120).trigger
    jittered = apart.get_next_fire_time(None, MAY)
    assert jittered
    print(apart, "within two minutes:", abs(jittered - MAY) <= timedelta(minutes=2))
    sched.start()
    print({said.get(timeout=10) for _ in range(3)}.pop() + ", three times")
    sched.shutdown()
