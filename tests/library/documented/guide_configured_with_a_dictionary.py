"""The same as one flat dictionary of texts, as a configuration file gives them; its prefix is not a package's name.

Prints:
    in_a_process by processpool: another process
    in_a_thread by default: this process
    coalesce False, max_instances 3, UTC
"""

import os
from queue import Queue

from waterclock.events import EVENT_JOB_EXECUTED, JobExecutionEvent
from waterclock.schedulers.background import BackgroundScheduler

if __name__ == "__main__":
    scheduler = BackgroundScheduler(
        {
            "apscheduler.jobstores.memory": {"type": "memory"},
            "apscheduler.jobstores.default": {"type": "sqlalchemy", "url": "sqlite:///jobs.sqlite"},
            "apscheduler.executors.default": {
                "class": "waterclock.executors.pool:ThreadPoolExecutor",
                "max_workers": "20",
            },
            "apscheduler.executors.processpool": {"type": "processpool", "max_workers": "5"},
            "apscheduler.job_defaults.coalesce": "false",
            "apscheduler.job_defaults.max_instances": "3",
            "apscheduler.timezone": "UTC",
        }
    )

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
