"""Everything of a job may be changed but its id; a new trigger comes with a next run of its own.

Prints:
    work 3 1 False
    Alternate name 6 5 True
    The job ID may not be changed
    The following are not modifiable attributes of Job: colour
    cron[minute='*/5'] True
    interval[1:00:00] True
    max_instances must be a positive integer
"""

from typing import Any

from waterclock.job import Job
from waterclock.schedulers.background import BackgroundScheduler


def work() -> None:
    pass


def show(job: Job) -> None:
    print(job.name, job.max_instances, job.misfire_grace_time, job.coalesce)


def refused(**changes: Any) -> None:
    try:
        scheduler.modify_job("my_job_id", **changes)
    except (AttributeError, TypeError, ValueError) as error:
        print(error)


if __name__ == "__main__":
    scheduler = BackgroundScheduler(job_defaults={"max_instances": 3, "misfire_grace_time": 1, "coalesce": False})
    scheduler.start()
    job = scheduler.add_job(work, "interval", minutes=2, id="my_job_id")
    show(job)
    job.modify(max_instances=6, name="Alternate name")
    show(scheduler.modify_job("my_job_id", misfire_grace_time=5, coalesce=True))
    refused(id="another")
    refused(colour="red")

    before = job.next_run_time
    assert before
    rescheduled = scheduler.reschedule_job("my_job_id", trigger="cron", minute="*/5")
    assert rescheduled.next_run_time
    print(rescheduled.trigger, rescheduled.next_run_time.minute % 5 == 0)
    job.reschedule("interval", hours=1)
    stored = scheduler.get_job("my_job_id")
    assert stored
    assert stored.next_run_time
    print(stored.trigger, stored.next_run_time > before)
    refused(max_instances=0)
    scheduler.shutdown()
