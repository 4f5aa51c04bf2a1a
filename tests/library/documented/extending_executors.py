"""An executor of one's own is given as an object, or by the name of its entry point with its arguments.

Prints:
    ran by mine-1
    ran by mine-2
"""

from queue import Queue
from threading import current_thread

from waterclock.executors.pool import ThreadPoolExecutor
from waterclock.schedulers.background import BackgroundScheduler

ran = Queue[str]()


class MyExecutor(ThreadPoolExecutor):
    """One thread, with a name."""

    def __init__(self, prefix: str) -> None:
        super().__init__(max_workers=1, pool_kwargs={"thread_name_prefix": prefix})


def work() -> None:
    ran.put(current_thread().name[: len("mine-1")])


if __name__ == "__main__":
    scheduler = BackgroundScheduler()
    scheduler.add_executor(MyExecutor("mine-1"), "myexecutor")
    scheduler.add_executor("my_executor", "by_its_name", prefix="mine-2")
    scheduler.start()
    scheduler.add_job(work, "interval", seconds=0.05, executor="myexecutor", id="one")
    print("ran by", ran.get(timeout=10))
    scheduler.add_job(work, "interval", seconds=0.05, executor="by_its_name", id="two")
    while (name := ran.get(timeout=10)) == "mine-1":
        pass
    print("ran by", name)
    scheduler.shutdown()
