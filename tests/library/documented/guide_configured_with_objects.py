"""Two stores, two executors, other defaults and a zone: given as objects and dictionaries to the constructor.

Prints:
    in_a_process by processpool: another process
    in_a_thread by default: this process
    coalesce False, max_instances 3, UTC
"""

import os
from datetime import UTC
from queue import Queue

from waterclock.events import EVENT_JOB_EXECUTED, JobExecutionEvent
from waterclock.executors.pool import ProcessPoolExecutor, ThreadPoolExecutor
from waterclock.jobstores.memory import MemoryJobStore
from waterclock.jobstores.sqlalchemy import SQLAlchemyJobStore
from waterclock.schedulers.background import BackgroundScheduler

if __name__ == "__main__":
    jobstores = {"memory": MemoryJobStore(), "default": SQLAlchemyJobStore(url="sqlite:///jobs.sqlite")}
    executors = {"default": ThreadPoolExecutor(20), "processpool": ProcessPoolExecutor(5)}
    job_defaults = {"coalesce": False, "max_instances": 3}
    scheduler = BackgroundScheduler(jobstores=jobstores, executors=executors, job_defaults=job_defaults, timezone=UTC)

    ended = Queue[JobExecutionEvent]()
    scheduler.add_listener(ended.put, EVENT_JOB_EXECUTED)
    scheduler.add_job("os:getpid", id="in_a_thread", misfire_grace_time=None)
    scheduler.add_job(
        "os:getpid", id="in_a_process", jobstore="memory", executor="processpool", misfire_grace_time=None
    )
    kept = scheduler.add_job("os:getpid", "cron", hour=3)
    scheduler.start()
    for event in sorted((ended.get(timeout=30) for _ in range(2)), key=lambda event: str(event.job_id)):
        executor = "processpool" if event.jobstore == "memory" else "default"
        print(f"{event.job_id} by {executor}: {'this' if event.retval == os.getpid() else 'another'} process")
    print(f"coalesce {kept.coalesce}, max_instances {kept.max_instances}, {scheduler.timezone}")
    scheduler.shutdown()
