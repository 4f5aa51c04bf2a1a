"""A scheduler of one's own adds something to the start and to the end of another.

Prints:
    starting
    started: True
    shutting down
    ran
    down: True
"""

from queue import Queue
from typing import Any

from waterclock.schedulers.background import BackgroundScheduler

ran = Queue[str]()


class MyScheduler(BackgroundScheduler):
    def start(self, *args: Any, **kwargs: Any) -> None:
        print("starting")
        super().start(*args, **kwargs)

    def shutdown(self, *args: Any, **kwargs: Any) -> None:
        print("shutting down")
        super().shutdown(*args, **kwargs)


if __name__ == "__main__":
    scheduler = MyScheduler({"apscheduler.timezone": "UTC"}, daemon=True)
    scheduler.add_job(ran.put, "interval", ["ran"], seconds=0.05)
    scheduler.start()
    print("started:", scheduler.running)
    said = ran.get(timeout=10)
    scheduler.shutdown(wait=True)
    print(said)
    print("down:", not scheduler.running)
