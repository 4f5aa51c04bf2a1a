"""A job every fifth of a second, each time in a process of a pool, until Ctrl-C."""

import os

from waterclock.schedulers.blocking import BlockingScheduler


def tick(scheduler_pid: int) -> None:
    print(f"Tick! In a process of its own: {os.getpid() != scheduler_pid}", flush=True)


if __name__ == "__main__":
    scheduler = BlockingScheduler()
    scheduler.add_executor("processpool")
    scheduler.add_job(tick, "interval", [os.getpid()], seconds=0.2)
    print("Press Ctrl+C to exit", flush=True)
    try:
        scheduler.start()
    except (KeyboardInterrupt, SystemExit):
        print("Bye")
