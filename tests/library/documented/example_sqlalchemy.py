"""Each start adds an alarm; alarms that have not gone off when the program ends go off after it is started again.

Its arguments: the address of the database, in how many seconds the new alarm goes off, and who sets it. It runs until
Ctrl-C.
"""

import sys
from datetime import datetime, timedelta

from waterclock.events import EVENT_SCHEDULER_STARTED
from waterclock.schedulers.blocking import BlockingScheduler


def alarm(set_at: datetime, by: str) -> None:
    print(f"Alarm! It was set by the {by} in {set_at:%Y}.", flush=True)


if __name__ == "__main__":
    url, seconds, by = sys.argv[1:]
    scheduler = BlockingScheduler()
    scheduler.add_jobstore("sqlalchemy", url=url)
    now = datetime.now()  # noqa: DTZ005  # as the documentation has it: local to the scheduler
    scheduler.add_job(alarm, "date", run_date=now + timedelta(seconds=float(seconds)), args=[now, by])
    scheduler.add_listener(lambda event: print("Press Ctrl+C to exit", flush=True), EVENT_SCHEDULER_STARTED)
    try:
        scheduler.start()
    except (KeyboardInterrupt, SystemExit):
        print("Bye")
