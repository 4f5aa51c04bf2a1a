"""A scheduler beside an event loop: its coroutines run there, and nothing that it does makes the loop wait."""

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.library.scheduling import FAR, LONG, Ear, now
from waterclock.events import EVENT_JOB_ERROR, EVENT_JOB_EXECUTED
from waterclock.jobstores.memory import MemoryJobStore
from waterclock.jobstores.sqlite import SQLiteJobStore
from waterclock.schedulers import SchedulerNotRunningError
from waterclock.schedulers.asyncio import AsyncIOScheduler
from waterclock.schedulers.background import BackgroundScheduler
from waterclock.stores.base import Operation
from waterclock.stores.memory import MemoryDatabase


async def heard(ear: Ear) -> Any:
    return await asyncio.to_thread(ear.next)


async def where() -> tuple[int, int]:
    return threading.get_ident(), id(asyncio.get_running_loop())


async def test_coroutine_functions_run_in_the_loop_and_all_others_in_threads(tmp_path: Path) -> None:
    scheduler = AsyncIOScheduler(jobstores={"kept": SQLiteJobStore(tmp_path / "jobs.sqlite")})
    ear = Ear(scheduler, EVENT_JOB_EXECUTED)
    scheduler.start()
    here = threading.get_ident(), id(asyncio.get_running_loop())
    for jobstore in ("default", "kept"):
        scheduler.add_job(where, jobstore=jobstore)
        assert (await heard(ear)).retval == here
        scheduler.add_job("threading:get_ident", jobstore=jobstore)
        assert (await heard(ear)).retval != threading.get_ident()
    await scheduler.aio.shutdown()


async def test_its_methods_can_be_awaited(tmp_path: Path) -> None:
    scheduler = AsyncIOScheduler(jobstores={"default": SQLiteJobStore(tmp_path / "jobs.sqlite")})
    await scheduler.aio.start(paused=True)
    job = await scheduler.aio.add_job("os:getpid", id="job", next_run_time=FAR)
    assert await scheduler.aio.get_jobs() == [job]
    assert (await scheduler.aio.modify_job("job", name="other")).name == "other"
    await scheduler.aio.remove_job("job")
    await scheduler.aio.shutdown()
    assert not scheduler.running
    with pytest.raises(SchedulerNotRunningError):
        await scheduler.aio.shutdown()
    with pytest.raises(AttributeError, match="timezone"):
        await scheduler.aio.timezone()


async def test_an_awaited_shutdown_waits_for_coroutines() -> None:
    scheduler, begun, may_end, ended = AsyncIOScheduler(), asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def work() -> None:
        begun.set()
        await may_end.wait()
        ended.set()

    scheduler.start()
    scheduler.add_job(work)
    await begun.wait()
    shutting_down = asyncio.ensure_future(scheduler.aio.shutdown())
    while scheduler.running:
        await asyncio.sleep(0.001)
    may_end.set()
    async with asyncio.timeout(LONG):
        await shutting_down
    assert ended.is_set()


@pytest.mark.parametrize("awaited", [True, False])
async def test_a_coroutine_may_shut_its_own_scheduler_down(awaited: bool) -> None:
    scheduler = AsyncIOScheduler()
    ear = Ear(scheduler, EVENT_JOB_EXECUTED)

    async def work() -> str:
        if awaited:
            await scheduler.aio.shutdown()
        else:
            scheduler.shutdown()
        return "down"

    scheduler.start()
    scheduler.add_job(work)
    assert (await heard(ear)).retval == "down"
    assert not scheduler.running


async def test_a_shutdown_in_the_loop_returns_at_once_and_what_runs_goes_on() -> None:
    scheduler, begun, may_end = AsyncIOScheduler(), asyncio.Event(), asyncio.Event()
    ear = Ear(scheduler, EVENT_JOB_EXECUTED)

    async def work() -> str:
        begun.set()
        await may_end.wait()
        return "done"

    scheduler.start()
    scheduler.add_job(work)
    await begun.wait()
    scheduler.shutdown()
    may_end.set()
    assert (await heard(ear)).retval == "done"


async def test_a_coroutine_is_cancelled_when_its_time_is_over() -> None:
    scheduler, cancelled = AsyncIOScheduler(), asyncio.Event()
    ear = Ear(scheduler, EVENT_JOB_ERROR)

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()

    scheduler.start()
    job = scheduler.add_job(work, "interval", hours=1, timeout=0.05, next_run_time=now())
    assert str((await heard(ear)).exception) == "did not end within 0.05 s"
    assert cancelled.is_set()
    assert [line.state for line in job.runs()] == ["TIMEOUT"]
    await scheduler.aio.shutdown()


async def test_one_that_was_shut_down_can_be_started_again_in_the_same_loop() -> None:
    scheduler = AsyncIOScheduler()
    ear = Ear(scheduler, EVENT_JOB_EXECUTED)
    for _ in range(2):
        scheduler.start()
        scheduler.add_job(where, id="job")
        assert (await heard(ear)).retval[0] == threading.get_ident()
        await scheduler.aio.shutdown()


def test_it_needs_a_loop() -> None:
    scheduler = AsyncIOScheduler()
    with pytest.raises(RuntimeError, match="where its event loop runs"):
        scheduler.start()
    assert not scheduler.running


def test_one_scheduler_may_serve_one_loop_after_another() -> None:
    scheduler = AsyncIOScheduler()

    async def main() -> tuple[int, int]:
        ear = Ear(scheduler, EVENT_JOB_EXECUTED)
        scheduler.start()
        scheduler.add_job(where)
        place: tuple[int, int] = (await heard(ear)).retval
        await scheduler.aio.shutdown()
        assert place[1] == id(asyncio.get_running_loop())
        return place

    asyncio.run(main())
    asyncio.run(main())


async def test_a_coroutine_function_runs_to_its_end_in_a_thread_too() -> None:
    scheduler = BackgroundScheduler()
    ear = Ear(scheduler, EVENT_JOB_EXECUTED)
    scheduler.start()
    scheduler.add_job(where)
    assert (await heard(ear)).retval[0] != threading.get_ident()
    await asyncio.to_thread(scheduler.shutdown)


# A slow store


class SlowDatabase(MemoryDatabase):
    """Each operation waits until it may: as a database does that does not answer."""

    may = threading.Event()
    asked = threading.Semaphore(0)

    async def write(self, operation: Operation[Any, Any], *args: Any, **kwargs: Any) -> Any:
        self.asked.release()
        assert await asyncio.to_thread(self.may.wait, LONG)
        return await super().write(operation, *args, **kwargs)


class SlowStore(MemoryJobStore):
    def __init__(self) -> None:
        super().__init__()
        self.slow = SlowDatabase()
        self.slow.may.set()

    def _make_database(self) -> MemoryDatabase:
        self._memory = self.slow
        return self.slow

    def _tell(self, operation: Operation[Any, Any], *args: Any, **kwargs: Any) -> Any:
        return self._thread.call(self.slow.write(operation, *args, **kwargs))


async def test_the_loop_goes_on_while_the_store_does_not_answer() -> None:
    store = SlowStore()
    scheduler = AsyncIOScheduler(jobstores={"default": store})
    ear = Ear(scheduler, EVENT_JOB_EXECUTED)
    scheduler.start()
    store.slow.may.clear()
    adding = asyncio.ensure_future(scheduler.aio.add_job(where))
    for _ in range(3):  # the engine's own questions, and ours: all of them wait
        assert await asyncio.to_thread(store.slow.asked.acquire, timeout=LONG)
    for _ in range(100):
        await asyncio.sleep(0)
    assert not adding.done()
    store.slow.may.set()
    async with asyncio.timeout(LONG):
        await adding
        assert (await heard(ear)).retval[0] == threading.get_ident()
        await scheduler.aio.shutdown()
