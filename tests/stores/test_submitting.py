"""Calls that were asked for at once are one row until each has its own; whatever happens, each is made once."""

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Final

import pytest

from tests.stores.programming import QUEUE, Program
from tests.stores.test_bundles import SCHEDULER, TAKERS, TTL_SECONDS, begin, bundles, end, record, rescue, work
from waterclock.domain.claim import Claimed
from waterclock.domain.job import CALLABLE, JobSpec
from waterclock.domain.library import NAMESPACE, PastRun, ToRun
from waterclock.domain.moment import seconds
from waterclock.domain.outcome import WORKER_LOST, Beginning
from waterclock.domain.run import Attempt, RunState
from waterclock.stores import database_from_url
from waterclock.stores.alike import Alike
from waterclock.stores.base import NOW
from waterclock.stores.memory import MemoryDatabase
from waterclock.stores.ops import claiming
from waterclock.stores.ops.bundle import call_of
from waterclock.stores.ops.bundle_ends import ended
from waterclock.stores.ops.library import past_runs
from waterclock.stores.ops.lone_ends import bundled
from waterclock.stores.ops.moves import Moves
from waterclock.stores.ops.new_run import first_attempt
from waterclock.stores.ops.submitting import LARGEST, Submitted, submit_calls

NOOP: Final = JobSpec(kind=CALLABLE, queue=QUEUE, call={"func": "module:noop", "with": {"args": [], "kwargs": {}}})
AGAIN: Final = JobSpec(kind=CALLABLE, queue=QUEUE, retries=1, call={"func": "module:again", "with": {"args": [1]}})


@pytest.fixture
async def program(store_url: str) -> AsyncIterator[Program]:
    database = database_from_url(store_url)
    await database.open()
    await database.migrate()
    yield await Program.on(database)
    await database.close()


async def submit(program: Program, *calls: ToRun, room: int = 100) -> Submitted:
    taker = replace(TAKERS[QUEUE], room=room)
    return await program.database.send(submit_calls, namespace=NAMESPACE, calls=calls, run_at=program.due, taker=taker)


async def three(program: Program, spec: JobSpec = NOOP) -> list[Claimed]:
    return list((await submit(program, *(ToRun(name, spec) for name in "abc"))).claimed)


async def past(program: Program, job_id: int | None) -> list[PastRun]:
    assert job_id is not None
    return await program.database.read(past_runs, job_id=job_id, trigger_id=0, limit=10)


async def states(program: Program, claimed: Claimed) -> list[str]:
    return [line.state for line in await past(program, claimed.attempt.job_id)]


async def test_they_are_their_processs_from_the_beginning_and_nobody_else_can_claim_them(program: Program) -> None:
    first, *_ = taken = await three(program)
    assert [each.attempt.job_name for each in taken] == ["a", "b", "c"]
    assert (first.attempt.node, first.attempt.fence, first.spec) == (SCHEDULER.node, 1, NOOP)
    assert first.attempt.lease_until == first.attempt.created_at + seconds(TTL_SECONDS)
    assert (await bundles(program), await program.claim(), await program.names()) == (1, [], [])


async def test_the_time_is_the_databases(program: Program) -> None:
    before = (await program.claims()).now
    (claimed, *_) = await three(program)
    assert before <= claimed.attempt.created_at <= (await program.claims()).now


async def test_each_has_a_history_of_its_own_once_it_has_ended(program: Program) -> None:
    first, second, third = await three(program)
    await record(program, end(first), end(third))
    assert [await states(program, each) for each in (first, second, third)] == [["SUCCEEDED"], [], ["SUCCEEDED"]]
    assert await bundles(program) == 1
    await record(program, end(second))
    assert (await states(program, second), await bundles(program)) == (["SUCCEEDED"], 0)


async def test_thousands_are_several_bundles_and_all_of_them_end(program: Program) -> None:
    submitted = await submit(program, *(ToRun(f"{n}", NOOP) for n in range(LARGEST + 1)))
    assert (len(submitted.claimed), len(set(submitted.job_ids)), await bundles(program)) == (LARGEST + 1,) * 2 + (2,)
    await record(program, *map(end, submitted.claimed))
    assert (await bundles(program), await states(program, submitted.claimed[-1])) == (0, ["SUCCEEDED"])


async def test_one_that_fails_is_tried_again_with_what_it_was_given(program: Program) -> None:
    first, *_ = await three(program, AGAIN)
    await record(program, end(first, RunState.FAILED, "boom"))
    (again,) = await program.claim()
    assert (again.attempt.job_name, again.attempt.number, again.spec) == ("a", 1, AGAIN)
    await program.end(again)
    (line,) = await past(program, first.attempt.job_id)
    assert (line.state, line.attempts, line.scheduled_at) == (RunState.SUCCEEDED, 2, program.due)


async def test_a_long_one_is_seen_to_run(program: Program) -> None:
    first, *_ = await three(program)
    lost = await begin(program, first, Beginning(attempt_id=first.attempt.id, fence=1, pid=7))
    assert (lost, await states(program, first)) == (frozenset(), ["RUNNING"])
    await record(program, end(first))
    assert await states(program, first) == ["SUCCEEDED"]


async def test_what_its_process_never_heard_of_goes_back_and_can_be_claimed(program: Program) -> None:
    first, second, third = await three(program, AGAIN)
    await program.database.write(claiming.give_back, claimant=SCHEDULER, besides={first.attempt.id})
    claimed = await program.claim()
    assert sorted(each.attempt.job_name for each in claimed) == ["b", "c"]
    assert [each.spec for each in claimed] == [AGAIN, AGAIN]
    await record(program, end(first))
    await program.end(*claimed)
    assert [await states(program, each) for each in (first, second, third)] == [["SUCCEEDED"]] * 3


async def test_those_of_a_process_that_died_are_decided_by_another(program: Program) -> None:
    first, second, third = await three(program)
    await record(program, end(first))
    await rescue(program)
    assert await states(program, first) == ["SUCCEEDED"]
    for each in (second, third):
        (line,) = await past(program, each.attempt.job_id)
        assert (line.state, line.message) == (RunState.FAILED, WORKER_LOST)
    assert await bundles(program) == 0


async def test_the_end_of_one_that_was_rescued_meanwhile_changes_nothing(program: Program) -> None:
    first, *_ = await three(program)
    await rescue(program)
    await record(program, end(first))
    assert await states(program, first) == ["FAILED"]


async def test_those_that_are_given_rows_twice_have_them_once(program: Program) -> None:
    first, second, _ = await three(program)
    kept = [each.lone for each in (first, second) if each.lone]
    await work(program).unbundle(kept)
    await program.database.write(claiming.give_back, claimant=SCHEDULER, besides={first.attempt.id, second.attempt.id})
    await record(program, end(first), end(second))
    assert [await states(program, each) for each in (first, second)] == [["SUCCEEDED"]] * 2


@pytest.mark.parametrize("room", [0, 100])
async def test_in_memory_they_are_taken_or_wait_to_be_claimed_without_a_fire(room: int) -> None:
    program = await Program.on(MemoryDatabase())
    submitted = await submit(program, ToRun("a", NOOP), ToRun("b", AGAIN), room=room)
    claimed = submitted.claimed or await program.claim()
    assert [(each.attempt.job_name, each.spec) for each in claimed] == [("a", NOOP), ("b", AGAIN)]
    assert (len(submitted.claimed), await program.names()) == (2 if room else 0, [])
    await program.end(*claimed)
    lines = [line for job_id in submitted.job_ids for line in await past(program, job_id)]
    assert [(line.state, line.scheduled_at) for line in lines] == [(RunState.SUCCEEDED, program.due)] * 2


async def test_what_is_taken_has_all_that_an_attempt_has(program: Program) -> None:
    first, *_ = await three(program)
    attempt, call = first.attempt, call_of(first.lone)
    assert call
    whole = first_attempt(call.run, call.run_id, call.attempt_id, call.wire_id, attempt.created_at)
    assert {name for name in Attempt.__slots__ if getattr(attempt, name) != getattr(whole, name)} == set()
    with pytest.raises(AttributeError):
        _ = attempt.nonsense  # type: ignore[attr-defined]


async def test_ends_that_differ_in_the_room_there_was_are_written_as_one_batch(program: Program) -> None:
    claimed = [(await submit(program, ToRun(name, NOOP), room=room)).claimed[0] for name, room in (("a", 1), ("b", 2))]
    rows = ended(bundled([end(each) for each in claimed]), Moves(), NOW)
    assert isinstance(rows["insert_ended_run"], Alike)
    await record(program, *(end(each) for each in claimed))
    assert [await states(program, each) for each in claimed] == [["SUCCEEDED"]] * 2
