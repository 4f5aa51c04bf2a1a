"""Programs that share a PostgreSQL store through the library: whatever is done to them, each run is run once."""

import asyncio
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import asyncpg
import pytest

from tests.acceptance.library_cluster import Cluster, Process, cluster
from tests.acceptance.library_ledger import faults_of
from tests.acceptance.server import until
from waterclock import clock
from waterclock.domain.moment import SECOND, Moment, to_iso
from waterclock.schedulers.background import BackgroundScheduler

JOBS: Final = 500
EVERY_SECONDS: Final = 5
SLOTS: Final = 20  # in which they fire: 25 of them every 0.25 s
RETRIES: Final = 2  # of every other job
CHAOS_SECONDS: Final = 20
ONE_SHOTS: Final = 2_000
BURSTS: Final = 10
KILL_SECONDS: Final = 3


@pytest.mark.chaos
def test_each_run_of_500_jobs_is_run_once_while_a_process_is_killed_every_3_s(
    postgres_url: str, tmp_path: Path
) -> None:
    """Processes that take the place of killed ones say the jobs again, as programs do, while none of them has ended."""
    with cluster(tmp_path, postgres_url) as programs:
        begin = clock.wall_us() + 2 * SECOND
        due = {f"j{number}": _instants(begin, number) for number in range(JOBS)}
        jobs = [
            programs.job(work, lasts=0.1, retries=RETRIES * (number // SLOTS % 2), **_interval(due[work]))
            for number, work in enumerate(due)
        ]
        first = [{**job, "next_run_time": job["start_date"]} for job in jobs]  # should that be over by then
        living = [programs.start(*first), programs.start(), programs.start()]
        for process in living:
            process.await_ready()
        for number in range(1, CHAOS_SECONDS // KILL_SECONDS + 1):
            _reach(begin + number * KILL_SECONDS * SECOND)
            if number % 2:  # else wherever it is: it may be firing, claiming, recording
                until(lambda: programs.is_in_a_job(living[0]), "it runs no job")
            programs.kill(living.pop(0))
            living.append(programs.start(*jobs if number * KILL_SECONDS < CHAOS_SECONDS // 2 else ()))
        _end_in_order(programs, living, due)


@pytest.mark.chaos
def test_each_of_2000_one_shots_is_run_once_while_a_process_is_killed_in_every_second_burst(
    postgres_url: str, tmp_path: Path
) -> None:
    """Calls that end at once, so that their processes die with bundles of them in every state."""
    with cluster(tmp_path, postgres_url) as programs:
        begin = clock.wall_us() + 10 * SECOND
        due = {f"j{number}": [begin + number % BURSTS * SECOND] for number in range(ONE_SHOTS)}
        jobs = [
            programs.job(work, retries=RETRIES * (number // BURSTS % 2), trigger="date", run_date=to_iso(due[work][0]))
            for number, work in enumerate(due)
        ]
        living = [programs.start(*jobs), programs.start(), programs.start()]
        for process in living:
            process.await_ready()
        for number in range(0, BURSTS, 2):
            _reach(begin + number * SECOND)
            so_far = len(programs.lines())
            until(lambda so_far=so_far: len(programs.lines()) > so_far, "nothing runs", pause=0)  # type: ignore[misc]
            at_it = programs.lines()[-1].pid  # the burst may be another's than the eldest's
            living.sort(key=lambda process: process.pid != at_it)
            programs.kill(living.pop(0))
            living.append(programs.start())
        _end_in_order(programs, living, due)


def test_what_a_killed_process_ran_is_tried_again_and_a_paused_one_comes_too_late_to_end_its_run(
    postgres_url: str, tmp_path: Path
) -> None:
    gate = tmp_path / "gate"
    with cluster(tmp_path, postgres_url, lease_seconds=1) as programs:
        due = {work: [clock.wall_us()] for work in ("held up", "killed")}
        held_up, killed = (programs.job(work, gate=gate, **_once(due[work])) for work in due)
        paused = programs.start(held_up)
        until(lambda: programs.is_in_a_job(paused), "it runs no job")
        programs.pause(paused)
        victim = programs.start({**killed, "retries": RETRIES})
        until(lambda: programs.is_in_a_job(victim), "it runs no job")
        programs.kill(victim)
        third = programs.start()
        until(lambda: programs.is_in_a_job(third), "nobody tried it again")
        lost = [True, True, False]
        until(lambda: [each.is_lost for each in programs.tries()] == lost, "nobody decided it", pause=0.2)
        gate.touch()
        paused.send(signal.SIGCONT)
        ends = {"held up": paused.pid, "killed": third.pid}
        until(lambda: {line.work: line.pid for line in programs.ends()} == ends, "they have not come to their ends")
        for process in (paused, third):
            process.await_ready()
            process.stop()  # what they have to say is said
        assert faults_of(programs.ledger(due)) == []
        assert _history(postgres_url, "held up") == [("FAILED", 1)]
        assert _history(postgres_url, "killed") == [("SUCCEEDED", 2)]


def test_a_process_that_is_killed_in_the_middle_of_a_fire_leaves_all_of_it_to_another(
    postgres_url: str, tmp_path: Path
) -> None:
    with cluster(tmp_path, postgres_url) as programs:
        first = programs.start()
        first.await_ready()  # there are tables now
        first.stop()
        due = {f"j{number}": [clock.wall_us()] for number in range(20)}
        with _locked(postgres_url, "runs") as is_waited_for:  # ledger rows are written, and runs are not
            victim = programs.start(*(programs.job(work, **_once(due[work])) for work in due))
            until(is_waited_for, "it fires nothing")
            programs.kill(victim)
        assert programs.ledger(due).fires == []
        second = programs.start()
        second.await_ready()
        until(lambda: len(programs.ends()) == len(due), "not all of them were run")
        second.stop()
        assert faults_of(programs.ledger(due)) == []
        assert not any(each.is_lost for each in programs.tries())
        assert programs.errors() == []


def _end_in_order(programs: Cluster, living: Sequence[Process], due: Mapping[str, Sequence[Moment]]) -> None:
    """Once all is quiet: what is in the store is what was due, and what ran."""
    until(programs.is_quiet, "a run has not ended", pause=0.2)
    for process in living:
        process.await_ready()
        process.stop()
    ledger = programs.ledger(due)
    assert faults_of(ledger) == []
    assert any(each.is_lost for each in ledger.tries), "nothing was under way when processes were killed"
    assert programs.errors() == []


def _instants(begin: Moment, number: int) -> list[Moment]:
    """The oracle."""
    first = begin + number % SLOTS * (EVERY_SECONDS * SECOND // SLOTS)
    return list(range(first, begin + CHAOS_SECONDS * SECOND + 1, EVERY_SECONDS * SECOND))


def _interval(instants: Sequence[Moment]) -> dict[str, Any]:
    first, last = to_iso(instants[0]), to_iso(instants[-1])
    return {"trigger": "interval", "seconds": EVERY_SECONDS, "start_date": first, "end_date": last}


def _once(instants: Sequence[Moment]) -> dict[str, Any]:
    """And not again in this test; the job stays."""
    return {"trigger": "interval", "days": 1, "start_date": to_iso(instants[0]), "next_run_time": to_iso(instants[0])}


def _reach(moment: Moment) -> None:
    until(lambda: clock.wall_us() >= moment, "time stands still")


def _history(url: str, job_id: str) -> list[tuple[str, int]]:
    """As a program sees it: the state of each run, and how often it was tried."""
    scheduler = BackgroundScheduler(jobstores={"default": {"type": "postgresql", "url": url}})
    scheduler.start(paused=True)
    try:
        job = scheduler.get_job(job_id)
        assert job
        return [(run.state, run.attempts) for run in job.runs()]
    finally:
        scheduler.shutdown()


@contextmanager
def _locked(url: str, table: str) -> Iterator[Callable[[], bool]]:
    """An operator's lock: whoever wants to write there waits, and this says whether somebody does."""
    waiting = f"SELECT COUNT(*) FROM pg_locks WHERE NOT granted AND relation = '{table}'::regclass"
    with asyncio.Runner() as runner:
        connection = runner.run(asyncpg.connect(url))
        runner.run(connection.execute(f"BEGIN; LOCK TABLE {table} IN SHARE MODE"))
        yield lambda: bool(runner.run(connection.fetchval(waiting)))
        runner.run(connection.close())
