"""Stops in every store: what has no process ends at once, what may have one waits for the proof."""

import asyncio
from collections import Counter

from tests.stores.store import Store
from tests.stores.world import World
from waterclock.domain.run import ENDED, RunState
from waterclock.stores.ops.reading import transitions_after


async def test_a_run_that_waits_is_stopped_at_once(world: World) -> None:
    await world.job(max_concurrent=1, queueing=True)
    _, waiting = await world.start(count=2)
    (answer,) = await world.stop(waiting.wire_id)
    assert (answer.accepted, answer.state) == (True, "WAITING")
    assert await world.states() == ["STARTING", "STOPPED"]


async def test_a_run_that_nobody_has_is_stopped_at_once_and_frees_its_slot(world: World) -> None:
    await world.job(max_concurrent=1, queueing=True)
    first, second = await world.start(count=2)
    await world.stop(first.wire_id)
    assert await world.states() == ["STOPPED", "STARTING"]
    assert (await world.claim_one()).wire_id == second.wire_id


async def test_a_claimed_run_is_stopping_until_its_end_is_proven(world: World) -> None:
    await world.job()
    (answered,) = await world.start()
    attempt = await world.claim_one()
    await world.stop(answered.wire_id)
    assert await world.states() == ["STOPPING"]
    await world.end(attempt, state=RunState.STOPPED)
    assert await world.states() == ["STOPPED"]


async def test_a_process_that_appears_after_the_stop_is_known_by_its_pid(world: World) -> None:
    await world.job()
    (answered,) = await world.start()
    attempt = await world.claim_one()
    await world.stop(answered.wire_id)
    assert await world.begin(attempt) == frozenset()
    stopping = await world.attempt(answered.wire_id)
    assert (stopping.state, stopping.pid) == (RunState.STOPPING, 1)


async def test_what_ends_by_itself_while_stopping_keeps_its_true_outcome_and_no_retry(world: World) -> None:
    await world.job(retries=3)
    answered = await world.start(count=2)
    attempts = [each.attempt for each in await world.claim()]
    await world.begin(*attempts)
    await world.stop(*(each.wire_id for each in answered))
    await world.end(attempts[0], state=RunState.SUCCEEDED)
    await world.end(attempts[1], state=RunState.FAILED)
    assert await world.states() == ["SUCCEEDED", "FAILED"]


async def test_what_has_ended_is_not_stopped(world: World) -> None:
    await world.job()
    (answered,) = await world.start()
    await world.run_one()
    (answer,) = await world.stop(answered.wire_id)
    assert (answer.accepted, answer.state) == (False, "SUCCEEDED")
    assert await world.states() == ["SUCCEEDED"]


async def test_each_id_gets_its_answer_in_order(world: World) -> None:
    await world.job("a")
    await world.job("b")
    (mine,) = await world.start("a")
    (others,) = await world.start("b")
    answers = await world.stop("jr_none", mine.wire_id, others.wire_id, job="a")
    assert [(each.wire_id, each.state) for each in answers] == [
        ("jr_none", None),
        (mine.wire_id, "STARTING"),
        (others.wire_id, None),
    ]
    assert await world.states() == ["STOPPED", "STARTING"]


async def test_stopping_twice_is_as_good_as_once(world: World) -> None:
    await world.job()
    (answered,) = await world.start()
    await world.claim_one()
    await world.stop(answered.wire_id)
    (again,) = await world.stop(answered.wire_id)
    assert (again.accepted, again.state) == (True, "STOPPING")


async def test_a_retry_that_is_not_due_yet_can_be_stopped(world: World) -> None:
    await world.job(retries=1, retry_delay_seconds=60)
    (answered,) = await world.start()
    await world.run_one(RunState.FAILED)
    await world.stop(f"{answered.wire_id}_attempt_1")
    assert await world.states() == ["FAILED", "STOPPED"]


async def test_stop_end_and_rescue_raced_leave_one_terminal_state(shared: Store) -> None:
    one, other, third = [World(database) for database in await shared.open_many(3)]
    await one.job(max_concurrent=1, queueing=True)
    for round_ in range(30):
        third.database.offset_us = 1_000_000_000  # far past every lease
        (answered,) = await one.start()
        attempt = await one.claim_one()
        if round_ % 2:
            await one.begin(attempt)
        ended, _, rescued = await asyncio.gather(one.end(attempt), other.stop(answered.wire_id), third.rescue(margin=0))
        assert len(ended) + len(rescued) == 1
        final = await one.attempt(answered.wire_id)
        if ended:
            assert final.state == "SUCCEEDED"
        else:
            assert final.state in ("FAILED", "STOPPED")
        assert await terminal_moves(one, attempt.id) == [final.state]
    assert Counter(await one.states()).total() == 30


async def terminal_moves(world: World, attempt_id: int) -> list[str]:
    found = await world.database.read(transitions_after, org_id=1, seq=0, limit=100_000)
    return [move[2] for each in found for move in each.moves if move[0] == attempt_id and move[2] in ENDED]
