"""The jobs of one store can be written to a file and be read into another.

Prints:
    exported 2
    imported into memory: ['daily', 'once']
    hello from cron[hour='3']
    <Job (id=once name=once)> 2099-01-01 12:00:00+00:00
"""

import json
from pathlib import Path

from waterclock.schedulers.background import BackgroundScheduler


def greet(greeting: str) -> None:
    print(greeting)


if __name__ == "__main__":
    scheduler = BackgroundScheduler(timezone="UTC")
    scheduler.add_job(greet, "cron", hour=3, args=["hello"], id="daily")
    scheduler.add_job(greet, "date", run_date="2099-01-01 12:00:00", args=["once"], id="once", name="once")
    scheduler.start()
    scheduler.export_jobs("jobs.json")
    scheduler.shutdown()
    print("exported", len(json.loads(Path("jobs.json").read_text())["jobs"]))

    other = BackgroundScheduler(timezone="UTC")
    other.add_jobstore("memory", "memory")
    other.start()
    with Path("jobs.json").open() as file:
        other.import_jobs(file, "memory")
    print("imported into memory:", sorted(job.id for job in other.get_jobs("memory")))
    daily, once = other.get_job("daily"), other.get_job("once")
    assert daily
    assert once
    print(*daily.args, "from", daily.trigger)
    print(repr(once), once.next_run_time)
    other.shutdown()
