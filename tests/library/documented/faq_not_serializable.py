"""What a store keeps must be found again: a lambda or a nested function is refused by it, a function by name is not.

Prints:
    a lambda: refused
    a nested function: refused
    a bound method: refused
    a static method: kept
    a class method: kept
    by reference: kept
    in memory anything runs
"""

from collections.abc import Callable
from threading import Event

from waterclock.schedulers.background import BackgroundScheduler

ran = Event()


class Work:
    def __init__(self) -> None:
        self.unkeepable = Event()

    def by_instance(self) -> None:
        pass

    @staticmethod
    def static() -> None:
        pass

    @classmethod
    def by_class(cls) -> None:
        pass


def made_by_a_function() -> Callable[[], object]:
    def nested() -> None:
        pass

    return nested


def add(what: str, func: Callable[[], object] | str) -> None:
    try:
        job = scheduler.add_job(func, "interval", hours=1)
    except (TypeError, ValueError):
        print(f"{what}: refused")
    else:
        print(f"{what}: {'kept' if scheduler.get_job(job.id) else 'lost'}")


if __name__ == "__main__":
    scheduler = BackgroundScheduler()
    scheduler.add_jobstore("sqlalchemy", url="sqlite:///jobs.sqlite")
    scheduler.add_jobstore("memory", "memory")
    scheduler.start()

    add("a lambda", lambda: None)
    add("a nested function", made_by_a_function())
    add("a bound method", Work().by_instance)
    add("a static method", Work.static)
    add("a class method", Work.by_class)
    add("by reference", "os:getpid")
    scheduler.add_job(lambda event: event.set(), "interval", [ran], seconds=0.05, jobstore="memory")
    print("in memory anything runs" if ran.wait(10) else "nothing ran")
    scheduler.shutdown()
