"""The end of a program with a scheduler: it comes, what runs ends first, and how it ended is known afterwards."""

import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.library.nursery import Nursery
from tests.library.scheduling import ended
from waterclock.faces.library.runner import UNASKED
from waterclock.job import JobRun
from waterclock.jobstores.sqlite import SQLiteJobStore
from waterclock.schedulers.background import BackgroundScheduler

MODULES = ("waterclock.schedulers.background", "waterclock.schedulers.asyncio", "waterclock.jobstores.sqlite")
BEGINNING = """
import asyncio, threading
from waterclock.jobstores.sqlite import SQLiteJobStore
from waterclock.schedulers.asyncio import AsyncIOScheduler
from waterclock.schedulers.background import BackgroundScheduler
from waterclock.triggers.dates import now_in
from zoneinfo import ZoneInfo

begun = threading.Event()
NOW = {"trigger": "interval", "hours": 1, "next_run_time": now_in(ZoneInfo("UTC"))}

def work():
    begun.set()
    threading.main_thread().join(0.05)  # until the program is about to end
    print("worked", flush=True)
    return "done"

async def wait_for_ever():
    begun.set()
    await asyncio.Event().wait()

def often():
    pass

def stop():
    threading.main_thread().join(0.2)
    print("stopping", flush=True)
    scheduler.shutdown()
"""


@pytest.fixture(scope="module")
def nursery(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nursery]:
    nursery = Nursery(MODULES, tmp_path_factory.mktemp("installed"))
    yield nursery
    nursery.close()


def said_by(nursery: Nursery, folder: Path, program: str) -> str:
    """All that it says until its end, which is one in peace."""
    script = folder / "program.py"
    script.write_text(BEGINNING + textwrap.dedent(program))
    with nursery.running(script) as running:
        said = running.rest()
        assert "Traceback" not in running.errors(), running.errors()
        return said


def past(folder: Path, job_id: str = "job") -> JobRun:
    """What the database says of its latest run."""
    scheduler = BackgroundScheduler(jobstores={"default": SQLiteJobStore(folder / "jobs.sqlite")})
    scheduler.start(paused=True)
    try:
        job = scheduler.get_job(job_id)
        assert job
        return ended(job)[-1]
    finally:
        scheduler.shutdown()


def test_a_program_that_just_ends_lets_its_job_end_and_records_it(nursery: Nursery, tmp_path: Path) -> None:
    program = """
        scheduler = BackgroundScheduler(jobstores={"default": SQLiteJobStore("jobs.sqlite")})
        scheduler.add_jobstore("memory", "memory")
        scheduler.start()
        scheduler.add_job(often, "interval", seconds=0.005, jobstore="memory")
        scheduler.add_job(often, "interval", seconds=0.01, max_instances=3)
        scheduler.add_job(work, id="job", **NOW)
        begun.wait()
        print("the end", flush=True)
    """
    assert said_by(nursery, tmp_path, program) == "the end\nworked\n"
    line = past(tmp_path)
    assert (line.state, line.result) == ("SUCCEEDED", "done")


def test_a_shutdown_that_does_not_wait_just_before_the_end_loses_nothing(nursery: Nursery, tmp_path: Path) -> None:
    program = """
        scheduler = BackgroundScheduler(jobstores={"default": SQLiteJobStore("jobs.sqlite")})
        scheduler.start()
        scheduler.add_job(work, id="job", **NOW)
        begun.wait()
        scheduler.shutdown(wait=False)
    """
    assert said_by(nursery, tmp_path, program) == "worked\n"
    assert past(tmp_path).state == "SUCCEEDED"


def test_a_job_in_a_process_ends_too(nursery: Nursery, tmp_path: Path) -> None:
    program = """
        if __name__ == "__main__":
            scheduler = BackgroundScheduler(
                jobstores={"default": SQLiteJobStore("jobs.sqlite")}, executors={"default": {"type": "processpool"}}
            )
            scheduler.add_listener(lambda event: begun.set(), 1 << 15)
            scheduler.start()
            scheduler.add_job("time:sleep", args=[0.1], id="job", **NOW)
            begun.wait()
    """
    said_by(nursery, tmp_path, program)
    assert past(tmp_path).state == "SUCCEEDED"


def test_a_scheduler_that_is_no_daemon_keeps_the_program_alive(nursery: Nursery, tmp_path: Path) -> None:
    program = """
        scheduler = BackgroundScheduler(daemon=False)
        scheduler.start()
        scheduler.add_job(stop)
        print("the end", flush=True)
    """
    assert said_by(nursery, tmp_path, program) == "the end\nstopping\n"


def test_a_loop_that_ends_under_its_scheduler_ends_its_coroutines_and_that_is_recorded(
    nursery: Nursery, tmp_path: Path
) -> None:
    program = """
        async def main():
            scheduler = AsyncIOScheduler(jobstores={"default": SQLiteJobStore("jobs.sqlite")})
            scheduler.start()
            await scheduler.aio.add_job(wait_for_ever, id="job", **NOW)
            await asyncio.to_thread(begun.wait)

        asyncio.run(main())
        print("the end", flush=True)
    """
    assert said_by(nursery, tmp_path, program) == "the end\n"
    line = past(tmp_path)
    assert (line.state, line.message) == ("FAILED", UNASKED)
