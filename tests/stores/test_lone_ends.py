"""A success that nothing can wait for is recorded without a look; whatever is otherwise than thought, nothing is."""

from collections.abc import AsyncIterator
from typing import Final

import pytest

from tests.stores.programming import QUEUE, Program
from waterclock.domain.claim import Claimed, Taker
from waterclock.domain.library import NAMESPACE, RULES
from waterclock.domain.outcome import Beginning, Outcome
from waterclock.domain.run import RunState
from waterclock.engine.work import StoreWork
from waterclock.stores import database_from_url
from waterclock.stores.ops import reading, recording, stopping
from waterclock.stores.ops.firing import fire_due
from waterclock.stores.ops.lone_ends import Contested

TAKER: Final = Taker(node="scheduler", host="host", room=100, ttl_seconds=60)


@pytest.fixture
async def program(store_url: str) -> AsyncIterator[Program]:
    database = database_from_url(store_url)
    await database.open()
    await database.migrate()
    yield await Program.on(database)
    await database.close()


async def taken(program: Program) -> list[Claimed]:
    fired = await program.database.write(
        fire_due, limit=100, rules={NAMESPACE: RULES}, ticker=NAMESPACE, takers={QUEUE: TAKER}
    )
    return list(fired.claimed)


def success(claimed: Claimed) -> Outcome:
    attempt_id, fence = claimed.attempt.id, claimed.attempt.fence
    beginning = Beginning(attempt_id=attempt_id, fence=fence, pid=7)
    return Outcome(attempt_id=attempt_id, fence=fence, state=RunState.SUCCEEDED, beginning=beginning, lone=claimed.lone)


async def record(program: Program, *claimed: Claimed) -> None:
    outcomes = [success(each) for each in claimed]
    await program.database.write(recording.record, beginnings=[], outcomes=outcomes, alone=True)


async def record_as_workers_do(program: Program, *claimed: Claimed) -> None:
    await StoreWork(program.database, alone=True).record([], [success(each) for each in claimed])


async def stop(program: Program, claimed: Claimed) -> None:
    attempt = claimed.attempt
    await program.database.write(
        stopping.stop_attempts, org_id=attempt.org_id, job_name=attempt.job_name, wire_ids=[attempt.wire_id]
    )


async def state_of(program: Program, claimed: Claimed) -> RunState:
    attempt = claimed.attempt
    found = await program.database.read(reading.get_attempt, org_id=attempt.org_id, wire_id=attempt.wire_id)
    assert found is not None
    return found.state


async def test_many_are_ended_at_once_with_what_happened_to_them(program: Program) -> None:
    added = await program.add(program.job("again"), program.until_now(name="last"))
    claimed = await taken(program)
    assert all(each.lone for each in claimed)
    await record(program, *claimed)
    for stored in added:
        (line,) = await program.past(stored)
        assert (line.state, line.started_at is not None, line.ended_at is not None) == ("SUCCEEDED", True, True)
    told = await program.database.read(reading.transitions_after, org_id=claimed[0].attempt.org_id, seq=0, limit=100)
    moves = [(was, to) for each in told for attempt_id, was, to, _ in each.moves if attempt_id == claimed[0].attempt.id]
    assert moves == [(None, "STARTING"), ("STARTING", "RUNNING"), ("RUNNING", "SUCCEEDED")]


async def test_one_that_is_to_be_stopped_undoes_the_whole_batch_and_is_looked_at(program: Program) -> None:
    await program.add(program.job(), program.job("other"))
    claimed = await taken(program)
    await stop(program, claimed[0])
    with pytest.raises(Contested):
        await record(program, *claimed)
    assert await state_of(program, claimed[1]) is RunState.STARTING
    await record_as_workers_do(program, *claimed)
    assert await state_of(program, claimed[1]) is RunState.SUCCEEDED
    assert await state_of(program, claimed[0]) is RunState.SUCCEEDED  # it was done before it could be stopped


async def test_an_end_whose_answer_was_lost_is_told_again_and_stays_as_it_is(program: Program) -> None:
    (stored,) = await program.add(program.job())
    claimed = await taken(program)
    await record(program, *claimed)
    before = await program.past(stored)
    await record_as_workers_do(program, *claimed)
    assert await program.past(stored) == before


async def test_a_job_that_lets_runs_wait_since_then_is_looked_at_and_the_next_one_starts(program: Program) -> None:
    (stored,) = await program.add(program.job())
    (first,) = await taken(program)
    await program.change_spec(queueing=True)
    program.pass_time(60)
    assert await taken(program) == []  # it waits for the first
    with pytest.raises(Contested):
        await record(program, first)
    await record_as_workers_do(program, first)
    assert await program.states(stored) == ["STARTING", "SUCCEEDED"]


async def test_a_job_that_let_a_run_wait_before_it_was_removed_is_looked_at_too(program: Program) -> None:
    (stored,) = await program.add(program.job())
    (first,) = await taken(program)
    await program.change_spec(queueing=True)
    program.pass_time(60)
    assert await taken(program) == []
    await program.remove("job")
    with pytest.raises(Contested):
        await record(program, first)
    await record_as_workers_do(program, first)
    assert await program.states(stored) == ["STARTING", "SUCCEEDED"]


async def test_what_something_may_wait_for_is_never_taken_for_lone(program: Program) -> None:
    await program.add(program.job("queues", queueing=True), program.job("catches up", since=2))
    assert [each.lone for each in await taken(program)] == [None, None]
