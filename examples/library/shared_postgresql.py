"""Two processes, or twenty, share the jobs of one PostgreSQL: every due time runs in one of them.

    python examples/library/shared_postgresql.py postgresql://user:password@host/name [seconds]

Start it in two terminals, with the same URL (or with WATERCLOCK_URL in the environment). Each prints what it ran, with
its process id; no due time is printed by both. Kill one with -9: the other goes on. It ends after so many seconds
(60), or with Ctrl-C.
"""

import os
import sys
import time

from waterclock.domain.errors import Unavailable
from waterclock.events import EVENT_JOB_EXECUTED, JobExecutionEvent
from waterclock.schedulers.background import BackgroundScheduler

NO_DATABASE = """\
There is no PostgreSQL{where}. One of these gets you one:
  docker run --rm -p 5432:5432 -e POSTGRES_PASSWORD=secret postgres
  apt install postgresql && sudo -u postgres createuser --superuser $USER && createdb jobs
Then: python {program} postgresql://postgres:secret@127.0.0.1/postgres"""


TABLES = ("customers", "orders", "stock")


def refresh(table: str) -> int:
    """Found by every process under its import path, `shared_postgresql:refresh`."""
    time.sleep(0.2)
    return os.getpid()


def show(event: JobExecutionEvent) -> None:
    """A scheduler tells its own listeners of what it ran itself."""
    print(f"{event.scheduled_run_time:%H:%M:%S} {event.job_id} in process {event.retval}", flush=True)


def main(url: str, seconds: float) -> None:
    # A name of its own for its set of jobs: other programs on this database could not load them.
    store = {"type": "postgresql", "url": url, "tablename": "shared_postgresql"}
    scheduler = BackgroundScheduler(
        jobstores={"default": store},
        executors={"default": {"type": "threadpool", "max_workers": 1}},  # one at a time: the rest is for the others
        job_defaults={"queue": True},
        timezone="UTC",
    )
    scheduler.add_listener(show, EVENT_JOB_EXECUTED)
    for table in TABLES:
        scheduler.add_job(
            "shared_postgresql:refresh", "cron", second="*", args=[table], id=f"refresh {table}", replace_existing=True
        )
    scheduler.start()
    print(f"process {os.getpid()} has joined; Ctrl-C ends it", flush=True)
    try:
        time.sleep(seconds)
    except KeyboardInterrupt:
        print(f"process {os.getpid()} leaves", flush=True)
    scheduler.shutdown()


if __name__ == "__main__":
    given = sys.argv[1] if len(sys.argv) > 1 else os.environ.get("WATERCLOCK_URL")
    if given is None:
        sys.exit(NO_DATABASE.format(where=" named", program=sys.argv[0]))
    try:
        main(given, float(sys.argv[2]) if len(sys.argv) > 2 else 60.0)
    except Unavailable as problem:
        sys.exit(f"{problem}\n{NO_DATABASE.format(where=' there', program=sys.argv[0])}")
