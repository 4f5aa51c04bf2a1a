"""A scheduler as a service: another thread adds, changes and removes its jobs over a socket, by name.

Prints:
    Hello, World
    Changed
    interval[1:00:00]
    paused
    resumed
    1 job
    0 jobs
"""

from multiprocessing.connection import Client, Connection, Listener
from queue import Queue
from threading import Thread
from typing import Any

from waterclock.schedulers.background import BackgroundScheduler

said = Queue[str]()


def print_text(text: str) -> None:
    said.put(text)


class SchedulerService:
    """What is exposed. Only values that can be sent are answered."""

    def add_job(self, func: str, *args: Any, **kwargs: Any) -> str:
        return str(scheduler.add_job(func, *args, **kwargs).id)

    def modify_job(self, job_id: str, jobstore: str | None = None, **changes: Any) -> str:
        return str(scheduler.modify_job(job_id, jobstore, **changes).name)

    def reschedule_job(self, job_id: str, jobstore: str | None = None, trigger: Any = None, **trigger_args: Any) -> str:
        return str(scheduler.reschedule_job(job_id, jobstore, trigger, **trigger_args).trigger)

    def pause_job(self, job_id: str, jobstore: str | None = None) -> str:
        return "resumed" if scheduler.pause_job(job_id, jobstore).next_run_time else "paused"

    def resume_job(self, job_id: str, jobstore: str | None = None) -> str:
        resumed = scheduler.resume_job(job_id, jobstore)
        return "resumed" if resumed and resumed.next_run_time else "paused"

    def remove_job(self, job_id: str, jobstore: str | None = None) -> None:
        scheduler.remove_job(job_id, jobstore)

    def count_jobs(self, jobstore: str | None = None) -> int:
        return len(scheduler.get_jobs(jobstore))


def serve(connection: Connection) -> None:
    service = SchedulerService()
    for name, args, kwargs in iter(connection.recv, None):
        connection.send(getattr(service, name)(*args, **kwargs))


if __name__ == "__main__":
    scheduler = BackgroundScheduler()
    scheduler.start()
    with Listener("service.socket") as listener, Client("service.socket") as client:
        server = Thread(target=serve, args=[listener.accept()])
        server.start()

        def call(name: str, *args: Any, **kwargs: Any) -> Any:
            client.send((name, args, kwargs))
            return client.recv()

        job_id = call("add_job", "__main__:print_text", "interval", args=["Hello, World"], seconds=0.1)
        print(said.get(timeout=10))
        call("modify_job", job_id, args=["Changed"])
        print(next(text for text in iter(lambda: said.get(timeout=10), "") if text == "Changed"))
        print(call("reschedule_job", job_id, trigger="interval", hours=1))
        print(call("pause_job", job_id))
        print(call("resume_job", job_id))
        print(call("count_jobs"), "job")
        call("remove_job", job_id)
        print(call("count_jobs"), "jobs")
        client.send(None)
        server.join()
    scheduler.shutdown()
