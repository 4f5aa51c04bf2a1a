"""The same once more: the scheduler first, its jobs next, and what it is made of last.

Prints:
    in_a_thread from default
    in_memory from memory
    coalesce False, max_instances 3, UTC
"""

from datetime import UTC
from queue import Queue

from waterclock.events import EVENT_JOB_EXECUTED, JobExecutionEvent
from waterclock.executors.pool import ProcessPoolExecutor
from waterclock.jobstores.sqlalchemy import SQLAlchemyJobStore
from waterclock.schedulers.background import BackgroundScheduler

if __name__ == "__main__":
    scheduler = BackgroundScheduler()
    scheduler.add_job("os:getpid", id="in_a_thread", misfire_grace_time=None)
    scheduler.add_job("os:getpid", id="in_memory", jobstore="memory", misfire_grace_time=None)
    kept = scheduler.add_job("os:getpid", "cron", hour=3)

    jobstores = {"memory": {"type": "memory"}, "default": SQLAlchemyJobStore(url="sqlite:///jobs.sqlite")}
    executors = {
        "default": {"type": "threadpool", "max_workers": 20},
        "processpool": ProcessPoolExecutor(max_workers=5),
    }
    job_defaults = {"coalesce": False, "max_instances": 3}
    scheduler.configure(jobstores=jobstores, executors=executors, job_defaults=job_defaults, timezone=UTC)

    ended = Queue[JobExecutionEvent]()
    scheduler.add_listener(ended.put, EVENT_JOB_EXECUTED)
    scheduler.start()
    for event in sorted((ended.get(timeout=30) for _ in range(2)), key=lambda event: str(event.job_id)):
        print(f"{event.job_id} from {event.jobstore}")
    print(f"coalesce {kept.coalesce}, max_instances {kept.max_instances}, {scheduler.timezone}")
    scheduler.shutdown()
