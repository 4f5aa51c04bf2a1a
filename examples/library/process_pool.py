"""Work for the processor in a pool of processes: every job in a process of its own, killed when its time is over.

    python examples/library/process_pool.py

Three jobs count primes side by side. A fourth never ends: after its time-out of a second its process is killed, which
is looked for afterwards. The results are read from the history of the jobs. It takes a few seconds.
"""

import os
from pathlib import Path
from queue import SimpleQueue
from tempfile import TemporaryDirectory

from waterclock.events import EVENT_JOB_ERROR, EVENT_JOB_EXECUTED, JobExecutionEvent
from waterclock.job import Job
from waterclock.schedulers.background import BackgroundScheduler


def primes(below: int) -> int:
    """How many there are."""
    return sum(all(number % divisor for divisor in range(2, int(number**0.5) + 1)) for number in range(2, below))


def endless(evidence: str) -> None:
    """Says which process it is, and never comes back."""
    Path(evidence).write_text(str(os.getpid()))
    while True:
        pass


def is_alive(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


def show(job: Job) -> None:
    run = job.runs()[0]
    print(f"{job.id}: {run.state}, {run.result if run.message is None else run.message}")


def main() -> None:
    ends: SimpleQueue[JobExecutionEvent] = SimpleQueue()
    scheduler = BackgroundScheduler(executors={"default": {"type": "processpool", "max_workers": 4}})
    scheduler.add_listener(ends.put, EVENT_JOB_EXECUTED | EVENT_JOB_ERROR)
    scheduler.start()
    with TemporaryDirectory() as folder:
        evidence = Path(folder) / "pid"
        jobs = [scheduler.add_job(primes, args=[below], id=f"primes below {below}") for below in (10, 1_000, 100_000)]
        jobs.append(scheduler.add_job(endless, args=[str(evidence)], id="endless", timeout=1))
        for _ in jobs:
            ends.get()
        for job in jobs:
            show(job)
        print("its process is gone:", not is_alive(int(evidence.read_text())))
    scheduler.shutdown()


if __name__ == "__main__":  # the worker processes import this file, and must not start a scheduler
    main()
