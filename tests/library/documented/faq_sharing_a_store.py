"""Two such programs on one database: each due instant runs in one of them. (APScheduler's answer: you can't.)

Its argument: the address of the database. It says which instants it ran, until Ctrl-C.
"""

import sys
import time

from waterclock.events import EVENT_JOB_EXECUTED, JobExecutionEvent
from waterclock.schedulers.background import BackgroundScheduler


def show(event: JobExecutionEvent) -> None:
    print(f"Tick! {event.scheduled_run_time.isoformat()}", flush=True)


if __name__ == "__main__":
    scheduler = BackgroundScheduler(timezone="UTC")
    scheduler.add_jobstore("sqlalchemy", url=sys.argv[1])
    scheduler.add_listener(show, EVENT_JOB_EXECUTED)
    scheduler.add_job("os:getpid", "interval", seconds=0.1, id="shared", replace_existing=True)
    scheduler.start()
    print("Press Ctrl+C to exit", flush=True)
    try:
        while True:
            time.sleep(2)
    except (KeyboardInterrupt, SystemExit):
        scheduler.shutdown()
        print("Bye")
