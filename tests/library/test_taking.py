"""A process takes more than it can run at once, and gives back what it does not get to."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from waterclock.events import EVENT_JOB_EXECUTED
from waterclock.executors.pool import ThreadPoolExecutor
from waterclock.jobstores.sqlite import SQLiteJobStore
from waterclock.schedulers.background import BackgroundScheduler

DEADLINE = 30.0

gates: dict[str, threading.Event] = {}
begun: list[tuple[str, str]] = []
changed = threading.Condition()


def wait_at(name: str) -> None:
    """Runs in one of two schedulers; its thread says in which."""
    with changed:
        begun.append((name, threading.current_thread().name.partition("_")[0]))
        changed.notify_all()
    gates[name].wait(DEADLINE)


@pytest.fixture
def two(tmp_path: Path) -> Iterator[tuple[BackgroundScheduler, BackgroundScheduler]]:
    """Two schedulers on one file, each with one thread."""
    both = [
        BackgroundScheduler(
            timezone="UTC",
            jobstores={"default": SQLiteJobStore(tmp_path / "jobs.sqlite")},
            executors={"default": ThreadPoolExecutor(1, {"thread_name_prefix": name})},
        )
        for name in ("first", "second")
    ]
    begun.clear()
    gates.clear()
    yield both[0], both[1]
    for gate in gates.values():
        gate.set()
    for scheduler in both:
        if scheduler.running:
            scheduler.shutdown()


def test_what_one_process_does_not_get_to_another_runs(two: tuple[BackgroundScheduler, BackgroundScheduler]) -> None:
    first, second = two
    first.start()
    for name in ("a", "b"):
        gates[name] = threading.Event()
        first.add_job(f"{__name__}:wait_at", args=[name], id=name)
    with changed:
        assert changed.wait_for(lambda: len(begun) == 1, DEADLINE)
    second.start()  # the first has taken both, and has one thread
    with changed:
        assert changed.wait_for(lambda: len(begun) == 2, DEADLINE)
    assert {where for _, where in begun} == {"first", "second"}


def test_a_shutdown_that_waits_runs_what_was_taken(two: tuple[BackgroundScheduler, BackgroundScheduler]) -> None:
    first, _ = two
    ended: list[str] = []
    first.add_listener(lambda event: ended.append(event.job_id), EVENT_JOB_EXECUTED)
    first.start(paused=True)
    for number in range(20):
        gates[str(number)] = threading.Event()
        gates[str(number)].set()
        first.add_job(f"{__name__}:wait_at", args=[str(number)], id=str(number))
    first.resume()
    with changed:
        assert changed.wait_for(lambda: bool(begun), DEADLINE)
    first.shutdown()
    assert sorted(ended) == sorted(name for name, _ in begun)


@pytest.mark.parametrize("store", ["memory", "sqlite"])
def test_a_job_that_takes_long_is_shown_as_running(
    two: tuple[BackgroundScheduler, BackgroundScheduler], store: str
) -> None:
    first, _ = two
    first.add_jobstore("memory", "memory")
    first.start()
    gates["long"] = threading.Event()
    alias = "memory" if store == "memory" else "default"
    job = first.add_job(wait_at if store == "memory" else f"{__name__}:wait_at", args=["long"], jobstore=alias)
    pause = threading.Event()
    for _ in range(int(DEADLINE / 0.05)):
        if job.runs() and job.runs()[0].state == "RUNNING":
            break
        pause.wait(0.05)
    (run,) = job.runs()
    assert (run.state, run.started_at is not None, run.ended_at) == ("RUNNING", True, None)


def test_a_file_that_apscheduler_exported_is_told_apart(
    two: tuple[BackgroundScheduler, BackgroundScheduler], tmp_path: Path
) -> None:
    first, _ = two
    first.start()
    trigger = '{"__apscheduler_class__": "apscheduler.triggers.date:DateTrigger", "__apscheduler_state__": {}}'
    (tmp_path / "jobs.json").write_text(f'{{"version": 1, "jobs": [{{"id": "x", "trigger": {trigger}}}]}}')
    with pytest.raises(ValueError, match="waterclock import apscheduler"):
        first.import_jobs(tmp_path / "jobs.json")


def test_an_executor_with_too_long_a_name_is_a_value_error(
    two: tuple[BackgroundScheduler, BackgroundScheduler],
) -> None:
    first, _ = two
    first.start()
    with pytest.raises(ValueError, match="executor must have 1–40 characters"):
        first.add_job(f"{__name__}:wait_at", args=["x"], executor="x" * 41)


def test_resuming_a_job_that_is_not_paused_changes_nothing(
    two: tuple[BackgroundScheduler, BackgroundScheduler],
) -> None:
    first, _ = two
    first.start(paused=True)
    job = first.add_job(f"{__name__}:wait_at", "interval", hours=1, args=["x"], next_run_time="2026-01-01 00:00:00")
    assert first.resume_job(job.id) == job
    kept = first.get_job(job.id)
    assert kept is not None
    assert kept.next_run_time == job.next_run_time


def test_the_sqlite_store_takes_a_url_like_the_others(tmp_path: Path) -> None:
    scheduler = BackgroundScheduler(
        jobstores={"default": {"type": "sqlite", "url": f"sqlite:///{tmp_path}/by-url.sqlite"}}
    )
    scheduler.start()
    scheduler.shutdown()
    assert (tmp_path / "by-url.sqlite").exists()
    with pytest.raises(ValueError, match="begins with sqlite://"):
        SQLiteJobStore(url="postgresql://host/name")
