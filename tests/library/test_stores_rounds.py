"""Run times that are due together and run one by one: in stores, and in the plan itself."""

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from tests.stores.programming import EVERY_MINUTE, Program
from waterclock.domain.admission import Admission, Tally, admit
from waterclock.domain.firing import SkippedFor
from waterclock.domain.job import JobSpec
from waterclock.domain.moment import MINUTE
from waterclock.domain.planning import Misfire, Policy
from waterclock.stores.base import Database
from waterclock.stores.memory import MemoryDatabase
from waterclock.stores.opening import database_from_url

PATIENT = Misfire(policy=Policy.SKIP, grace=timedelta(hours=1))


@pytest.fixture(params=["memory", "sqlite"])
async def program(request: pytest.FixtureRequest, sqlite_url: str) -> AsyncIterator[Program]:
    database: Database = MemoryDatabase() if request.param == "memory" else database_from_url(sqlite_url)
    await database.open()
    await database.migrate()
    yield await Program.on(database)
    await database.close()


async def test_run_times_of_one_round_wait_for_each_other_and_those_of_the_next_do_not(program: Program) -> None:
    (often, once) = await program.add(
        program.job("often", since=2, misfire=PATIENT, max_concurrent=1, schedule=EVERY_MINUTE),
        program.until_now(name="once", since=2, misfire=PATIENT, max_concurrent=1),
    )
    fired = await program.fire()
    assert (fired.runs, fired.skipped, fired.exhausted) == (6, (), ("once",))
    assert sorted(await program.states(often)) == ["STARTING", "WAITING", "WAITING"]
    program.pass_time(60)
    (skipped,) = (await program.fire()).skipped
    assert (skipped.name, skipped.why) == ("often", SkippedFor.OVER_CAP), "its first runs still live"
    instants = [program.due - number * MINUTE for number in (2, 1, 0)]
    assert [sorted(await program.run_all()) for _ in range(4)] == [[instant] * 2 for instant in instants] + [[]]
    assert await program.states(once) == ["SUCCEEDED"] * 3, "though the job itself is gone"
    program.pass_time(60)
    assert (await program.fire()).runs == 1


async def test_where_the_first_is_refused_so_are_the_others(program: Program) -> None:
    await program.add(program.job(since=1, misfire=PATIENT, max_concurrent=1))
    assert (await program.fire()).runs == 2
    program.pass_time(120)
    fired = await program.fire()
    assert [skipped.why for skipped in fired.skipped] == [SkippedFor.OVER_CAP] * 2


def test_only_who_comes_in_turn_waits_without_a_queue() -> None:
    spec, full = JobSpec(kind="callable", max_concurrent=2), Tally(live=2, active=2)
    assert admit(spec, full) is Admission.REFUSE
    assert admit(spec, full, in_turn=True) is Admission.WAIT
    assert admit(spec, Tally(live=1, active=1), in_turn=True) is Admission.START
