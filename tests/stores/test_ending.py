"""Ends in every store: written once, with the retry, the next action and the freed slot in the same breath."""

import asyncio

import pytest

from tests.stores.store import Store
from tests.stores.world import World
from waterclock.domain.outcome import Beginning, Outcome
from waterclock.domain.run import RunState
from waterclock.domain.trigger import TriggerType
from waterclock.stores.ops.recording import record

FAILED = RunState.FAILED


async def fire_chain(world: World, *jobs: str) -> None:
    await world.trigger("trigger", *jobs)
    await world.pass_minute()
    await world.fire()


async def test_an_end_is_kept_with_all_that_is_known_of_it(world: World) -> None:
    await world.job()
    (answered,) = await world.start()
    attempt = await world.claim_one()
    await world.begin(attempt)
    facts = {"exit_code": 3, "exit_signal": 9, "cpu_us": 12, "peak_rss_bytes": 2**40, "message": "물 💧 'q' \\ \n %s"}
    assert await world.end(attempt, state=FAILED, **facts) == {attempt.id}
    ended = await world.attempt(answered.wire_id)
    assert {name: getattr(ended, name) for name in facts} == facts
    assert (ended.state, ended.lease_until) == (FAILED, None)
    assert ended.ended_at is not None


@pytest.mark.parametrize("count", [1, 2])
async def test_a_message_with_nul_and_half_characters_is_kept_as_well_as_can_be(world: World, count: int) -> None:
    await world.job()
    await world.start(count=count)
    attempts = [each.attempt for each in await world.claim()]
    outcomes = [
        Outcome(attempt_id=each.id, fence=each.fence, state=FAILED, message=f"a\0b\udc80c{each.id}")
        for each in attempts
    ]
    from waterclock.stores.ops.ending import end_attempts

    await world.database.write(end_attempts, outcomes)
    assert {each.message for each in await world.attempts()} == {f"a\ufffdb?c{each.id}" for each in attempts}


async def test_ending_twice_changes_nothing_the_second_time(world: World) -> None:
    await world.job()
    (answered,) = await world.start()
    attempt = await world.run_one()
    before = await world.attempt(answered.wire_id)
    world.pass_time(1)
    assert await world.end(attempt, state=FAILED) == frozenset()
    assert await world.attempt(answered.wire_id) == before


async def test_the_same_end_twice_in_one_batch_counts_once(world: World) -> None:
    await world.job(retries=1)
    await world.start()
    attempt = await world.claim_one()
    await world.end(attempt, attempt, state=FAILED)
    assert await world.states() == ["FAILED", "STARTING"]


async def test_an_end_with_an_old_fence_is_ignored(world: World) -> None:
    from waterclock.stores.ops.claiming import release

    await world.job()
    await world.start()
    old = await world.claim_one()
    await world.database.write(release, node="node", attempt_ids=[old.id])
    await world.claim_one()
    assert await world.end(old) == frozenset()
    assert await world.states() == ["STARTING"]


async def test_a_program_that_ended_before_its_beginning_was_stored_has_run(world: World) -> None:
    await world.job()
    await world.start()
    attempt = await world.claim_one()
    assert await world.end(attempt) == {attempt.id}
    assert await world.states() == ["SUCCEEDED"]


async def test_a_failed_run_is_tried_again_under_its_own_id(world: World) -> None:
    await world.job(retries=2)
    (answered,) = await world.start()
    for _ in range(3):
        await world.run_one(FAILED)
    attempts = sorted(await world.attempts(), key=lambda each: each.number)
    assert [each.wire_id for each in attempts] == [
        answered.wire_id,
        f"{answered.wire_id}_attempt_1",
        f"{answered.wire_id}_attempt_2",
    ]
    assert [each.state for each in attempts] == [FAILED] * 3
    assert {each.attempts for each in attempts} == {3}
    assert await world.claim() == []


async def test_a_run_that_succeeds_at_last_is_not_tried_again(world: World) -> None:
    await world.job(retries=5)
    await world.start()
    await world.run_one(FAILED)
    await world.run_one()
    assert await world.states() == ["FAILED", "SUCCEEDED"]


@pytest.mark.parametrize("state", [RunState.TIMEOUT, RunState.SUCCEEDED])
async def test_what_did_not_fail_is_not_tried_again(world: World, state: RunState) -> None:
    await world.job(retries=5)
    await world.start()
    await world.run_one(state)
    assert await world.states() == [state]


async def test_a_freed_slot_goes_to_the_oldest_that_waits(world: World) -> None:
    await world.job(max_concurrent=1, queueing=True)
    answered = []
    for _ in range(3):
        world.pass_time(1)
        answered += await world.start()
    for expected in answered:
        assert (await world.run_one()).wire_id == expected.wire_id
    assert await world.claim() == []


async def test_a_retry_keeps_its_slot(world: World) -> None:
    await world.job(max_concurrent=1, queueing=True, retries=1)
    await world.start(count=2)
    await world.run_one(FAILED)
    assert await world.states() == ["FAILED", "WAITING", "STARTING"]


async def test_many_ends_at_once_free_as_many_slots(shared: Store) -> None:
    worlds = [World(database) for database in await shared.open_many(3)]
    await worlds[0].job(max_concurrent=6, queueing=True)
    await worlds[0].start(count=18)
    for _ in range(3):
        running = [each.attempt for each in await worlds[0].claim()]
        assert len(running) == 6
        await asyncio.gather(*(worlds[n % 3].end(attempt) for n, attempt in enumerate(running)))
    assert await worlds[0].states() == ["SUCCEEDED"] * 18


@pytest.mark.parametrize("state", [RunState.SUCCEEDED, RunState.FAILED, RunState.TIMEOUT])
async def test_the_next_action_starts_when_the_one_before_has_ended_however(world: World, state: RunState) -> None:
    for name in "abc":
        await world.job(name)
    await fire_chain(world, *"abc")
    seen = [(await world.run_one(state)).job_name for _ in range(3)]
    assert seen == ["a", "b", "c"]


async def test_the_chain_goes_on_past_a_middle_action_that_was_stopped(world: World) -> None:
    for name in "abc":
        await world.job(name)
    await fire_chain(world, *"abc")
    (middle,) = [each for each in await world.attempts() if each.job_name == "b"]
    await world.stop(middle.wire_id)
    assert await world.states() == ["STARTING", "STOPPED", "WAITING"]
    await world.run_one()
    assert await world.states() == ["SUCCEEDED", "STOPPED", "STARTING"]


async def test_the_next_action_waits_for_the_retry_of_the_one_before(world: World) -> None:
    await world.job("a", retries=1)
    await world.job("b")
    await fire_chain(world, "a", "b")
    await world.run_one(FAILED)
    assert sorted(await world.states()) == ["FAILED", "STARTING", "WAITING"]
    await world.run_one(FAILED)
    assert (await world.claim_one()).job_name == "b"


async def test_the_next_action_waits_for_a_slot_of_its_job(world: World) -> None:
    await world.job("a")
    await world.job("b", max_concurrent=1, queueing=True)
    await world.start("b")
    await fire_chain(world, "a", "b")
    first = {each.attempt.job_name: each.attempt for each in await world.claim()}
    await world.end(first["a"])
    (waiting,) = await world.attempts([RunState.WAITING])
    assert "concurrent" in str(waiting.wait_reason)
    await world.end(first["b"])
    assert (await world.claim_one()).wire_id == waiting.wire_id


async def test_two_ends_of_one_chain_at_once_never_lose_the_third(shared: Store) -> None:
    """The first action ends while the second is stopped: whoever comes last must start the third."""
    one, other = [World(database) for database in await shared.open_many(2)]
    for name in "abc":
        await one.job(name)
    for round_ in range(15):
        await one.trigger(name := f"chain {round_}", *"abc", kind=TriggerType.ON_DEMAND, start=False)
        from tests.stores.world import PLACE
        from waterclock.stores.ops.triggers import start_trigger

        await one.database.write(start_trigger, **PLACE, name=name, allow=lambda _: None, rules={})
        mine = [each for each in await one.attempts() if each.trigger_name == name]
        second = next(each for each in mine if each.job_name == "b")
        first = await one.claim_one()
        await asyncio.gather(one.end(first), other.stop(second.wire_id))
        states = {each.job_name: each.state for each in await one.attempts() if each.trigger_name == name}
        assert (states["a"], states["b"], states["c"]) == ("SUCCEEDED", "STOPPED", "STARTING")
        await one.end(await one.claim_one())


async def test_beginnings_and_ends_are_recorded_together(world: World) -> None:
    await world.job()
    await world.start(count=2)
    first, second = [each.attempt for each in await world.claim()]
    begun = [Beginning(attempt_id=each.id, fence=each.fence, pid=1) for each in (first, second)]
    ended = [Outcome(attempt_id=first.id, fence=first.fence, state=RunState.SUCCEEDED)]
    assert await world.database.write(record, beginnings=begun, outcomes=ended) == frozenset()
    assert await world.states() == ["SUCCEEDED", "RUNNING"]
    done = await world.attempt(first.wire_id)
    assert (done.pid, done.started_at) == (1, done.ended_at)
    stale = Beginning(attempt_id=second.id, fence=99)
    assert await world.database.write(record, beginnings=[stale], outcomes=[]) == {second.id}


async def test_every_move_is_written_down_in_its_order(world: World) -> None:
    from waterclock.stores.ops.reading import transitions_after

    await world.job()
    await world.start()
    attempt = await world.run_one()
    found = await world.database.read(transitions_after, org_id=1, seq=0, limit=100)
    moves = [(move[1], move[2]) for each in found for move in each.moves if move[0] == attempt.id]
    assert moves == [(None, "STARTING"), ("STARTING", "RUNNING"), ("RUNNING", "SUCCEEDED")]
    assert [each.seq for each in found] == sorted(each.seq for each in found)
    later = await world.database.read(transitions_after, org_id=1, seq=found[0].seq, limit=100)
    assert [each.seq for each in later] == [each.seq for each in found[1:]]
    assert await world.database.read(transitions_after, org_id=2, seq=0, limit=100) == []
