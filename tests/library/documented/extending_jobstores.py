"""A job store of one's own is given as an object, or by the name of its entry point with its arguments.

Prints:
    MyJobStore started as mystore
    MyJobStore started as by_its_name
    a job in mystore ran
    a job in by_its_name ran
    1 job each
"""

from queue import Queue
from typing import Any

from waterclock.jobstores.memory import MemoryJobStore
from waterclock.schedulers.background import BackgroundScheduler

ran = Queue[str]()


class MyJobStore(MemoryJobStore):
    def start(self, scheduler: Any, alias: str) -> None:
        super().start(scheduler, alias)
        print(type(self).__name__, "started as", alias)


if __name__ == "__main__":
    scheduler = BackgroundScheduler()
    scheduler.add_jobstore(MyJobStore(), "mystore")
    scheduler.add_jobstore("my_jobstore", "by_its_name")
    scheduler.start()
    for alias in ("mystore", "by_its_name"):
        scheduler.add_job(ran.put, args=[f"a job in {alias} ran"], jobstore=alias, misfire_grace_time=None)
        print(ran.get(timeout=10))
        scheduler.add_job(ran.put, "interval", ["again"], hours=1, jobstore=alias)
    print(*{len(scheduler.get_jobs(alias)) for alias in ("mystore", "by_its_name")}, "job each")
    scheduler.shutdown()
