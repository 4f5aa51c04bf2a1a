"""The memory store: whatever a program does for however long, it stays as small as what is in it."""

from datetime import timedelta

import pytest

from tests.library.scheduling import FAR, Work, ended, now, running, wait_for_all
from waterclock.jobstores.memory import MemoryJobStore
from waterclock.stores.memory import state
from waterclock.stores.memory.state import KEPT_RUNS


def test_jobs_that_are_changed_or_removed_long_before_they_are_due_leave_nothing_behind(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(state, "MOST_VOID", 50)
    store = MemoryJobStore()
    with running(jobstores={"default": store}) as scheduler:
        job = scheduler.add_job(print, next_run_time=FAR)
        for number in range(100):
            job.modify(next_run_time=FAR + timedelta(seconds=number))
            scheduler.add_job(print, next_run_time=FAR, id="again").remove()
        assert len(store._memory._state.fires) < 60
        work = Work(held=False)
        job.modify(func=work, args=[], next_run_time=now())
        work.wait()


def test_of_the_past_of_a_job_the_latest_is_kept() -> None:
    with running() as scheduler:
        work = Work(held=False)
        job = scheduler.add_job(work, "interval", seconds=0.001, misfire_grace_time=None, max_instances=100)
        work.wait(3 * KEPT_RUNS)
        job.pause()
        wait_for_all(job)
        assert KEPT_RUNS <= len(job.runs(1_000)) <= 2 * KEPT_RUNS
        assert len(job.runs()) == 20
        assert job.runs() == job.runs(1_000)[:20]


def test_a_job_of_an_earlier_life_has_no_history_of_another() -> None:
    with running() as scheduler:
        old = scheduler.add_job(Work(held=False), id="job")
        ended(old)
        scheduler.shutdown()
        scheduler.start()
        new = scheduler.add_job(Work(held=False), id="job")
        ended(new)
        assert old.runs() == []
        assert len(new.runs()) == 1
