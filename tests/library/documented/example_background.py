"""A job every tenth of a second in the background of a program that does something else, until Ctrl-C."""

import time
from datetime import UTC, datetime

from waterclock.schedulers.background import BackgroundScheduler


def tick() -> None:
    print(f"Tick! The time is: {datetime.now(UTC)}", flush=True)


if __name__ == "__main__":
    scheduler = BackgroundScheduler()
    scheduler.add_job(tick, "interval", seconds=0.1)
    scheduler.start()
    print("Press Ctrl+C to exit", flush=True)
    try:
        while True:
            time.sleep(2)
    except (KeyboardInterrupt, SystemExit):
        scheduler.shutdown()
        print("Bye")
