"""A job every tenth of a second, and nothing else, until Ctrl-C."""

from datetime import UTC, datetime

from waterclock.schedulers.blocking import BlockingScheduler


def tick() -> None:
    print(f"Tick! The time is: {datetime.now(UTC)}", flush=True)


if __name__ == "__main__":
    scheduler = BlockingScheduler()
    scheduler.add_job(tick, "interval", seconds=0.1)
    print("Press Ctrl+C to exit", flush=True)
    try:
        scheduler.start()
    except (KeyboardInterrupt, SystemExit):
        print("Bye")
