"""Claims, leases, adoption and rescue in every store: one owner at a time, and a fence for each."""

import asyncio

import pytest

from tests.stores.store import Store
from tests.stores.world import World
from waterclock.domain.claim import Claimant
from waterclock.domain.moment import SECOND
from waterclock.domain.outcome import Beginning
from waterclock.domain.run import RunState
from waterclock.stores.ops import claiming


async def test_a_claim_gives_owner_lease_and_fence(world: World) -> None:
    await world.job(retries=1)
    (answered,) = await world.start()
    (claimed,) = await world.claim(ttl=60)
    attempt = claimed.attempt
    assert (attempt.id, attempt.node, attempt.host, attempt.fence) == (answered.attempt_id, "node", "host", 1)
    assert attempt.state is RunState.STARTING
    assert attempt.lease_until is not None
    assert abs(attempt.lease_until - await world.now() - 60 * SECOND) < 30 * SECOND
    assert claimed.spec.retries == 1


async def test_what_is_claimed_is_not_claimed_again(world: World) -> None:
    await world.job()
    await world.start(count=3)
    assert len(await world.claim(limit=2)) == 2
    assert len(await world.claim(limit=2)) == 1
    assert await world.claim() == []


async def test_the_oldest_are_claimed_first(world: World) -> None:
    await world.job()
    wire_ids = []
    for _ in range(3):
        world.pass_time(1)
        wire_ids.append((await world.start())[0].wire_id)
    assert [(await world.claim_one()).wire_id for _ in range(3)] == wire_ids


async def test_many_claimants_share_the_attempts_without_overlap(shared: Store) -> None:
    worlds = [World(database, node=f"node {n}") for n, database in enumerate(await shared.open_many(4))]
    await worlds[0].job()
    await worlds[0].start(count=300)
    for world in worlds:
        world.pass_time(1)

    async def take(world: World) -> list[int]:
        mine: list[int] = []
        while claimed := await world.claim(limit=17):
            mine += [each.attempt.id for each in claimed]
        return mine

    # One that finds everything locked may come away with nothing while another is still at it: go round once more.
    taken = [each for world in await asyncio.gather(*(take(world) for world in worlds)) for each in world]
    taken += await take(worlds[0])
    assert len(taken) == len(set(taken)) == 300


async def test_only_what_the_node_can_run_is_claimed(world: World) -> None:
    await world.job("plain")
    await world.job("gpu", labels=("gpu",))
    await world.job("slow", queue="slow")
    for name in ("plain", "gpu", "slow"):
        await world.start(name)
    assert await world.claim(roles=("main",)) == []
    assert [each.attempt.job_name for each in await world.claim()] == ["plain"]
    assert [each.attempt.job_name for each in await world.claim(queues=("slow",))] == ["slow"]
    assert [each.attempt.job_name for each in await world.claim(labels=("gpu",))] == ["gpu"]


async def test_a_worker_takes_what_asks_for_some_of_its_labels(world: World) -> None:
    for name, asked in {
        "none": (),
        "one": ("gpu",),
        "two": ("gpu", "zone=b"),
        "three": ("gpu", "ssd", "zone=b"),
    }.items():
        await world.job(name, labels=asked)
        await world.start(name)
        world.pass_time(1)
    assert [each.attempt.job_name for each in await world.claim(labels=("ssd",))] == ["none"]
    assert [each.attempt.job_name for each in await world.claim(labels=("zone=b", "big", "gpu"))] == ["one", "two"]
    assert await world.claim(labels=("zone=b", "gpu")) == []
    assert [each.attempt.job_name for each in await world.claim(labels=("ssd", "zone=b", "gpu"))] == ["three"]


async def test_labels_that_were_stored_in_any_order_are_a_set(world: World) -> None:
    await world.job(labels=("zone=b", "gpu", "gpu"))
    await world.start()
    assert len(await world.claim(labels=("gpu", "zone=b"))) == 1


async def test_a_node_without_queues_claims_nothing(world: World) -> None:
    await world.job()
    await world.start()
    assert await world.claim(queues=()) == []


async def test_a_delayed_retry_is_not_claimed_early(world: World) -> None:
    await world.job(retries=1, retry_delay_seconds=30)
    await world.start()
    await world.run_one(RunState.FAILED)
    claims = await world.database.write(claiming.claim, claimant=world.me, limit=9, ttl_seconds=60)
    assert claims.claimed == ()
    assert claims.next_due_at is not None
    assert 0 < claims.next_due_at - claims.now <= 30 * SECOND
    world.pass_time(31)
    assert (await world.claim_one()).number == 1


async def test_a_released_attempt_is_claimed_by_another_with_a_new_fence(world: World) -> None:
    await world.job()
    await world.start()
    first = await world.claim_one()
    await world.database.write(claiming.release, node="node", attempt_ids=[first.id])
    second = await World(world.database, node="other").claim_one()
    assert (second.id, second.fence, second.node) == (first.id, first.fence + 1, "other")


async def test_only_its_owner_can_release_an_attempt(world: World) -> None:
    await world.job()
    await world.start()
    attempt = await world.claim_one()
    await world.database.write(claiming.release, node="other", attempt_ids=[attempt.id])
    assert await world.claim() == []


async def test_a_begun_attempt_is_running_with_its_process(world: World) -> None:
    await world.job()
    (answered,) = await world.start()
    attempt = await world.claim_one()
    begun = Beginning(attempt_id=attempt.id, fence=attempt.fence, pid=4711, pid_started_at=99, log_path="/log/1")
    assert await world.database.write(claiming.begin, [begun]) == frozenset()
    running = await world.attempt(answered.wire_id)
    assert (running.state, running.pid, running.log_path) == (RunState.RUNNING, 4711, "/log/1")
    assert running.started_at is not None


async def test_a_beginning_with_an_old_fence_is_told_that_it_lost(world: World) -> None:
    await world.job()
    (answered,) = await world.start()
    old = await world.claim_one()
    await world.database.write(claiming.release, node="node", attempt_ids=[old.id])
    await world.claim_one()
    assert await world.begin(old) == {old.id}
    assert (await world.attempt(answered.wire_id)).state is RunState.STARTING


async def test_beginning_twice_changes_nothing(world: World) -> None:
    await world.job()
    (answered,) = await world.start()
    attempt = await world.claim_one()
    assert await world.begin(attempt) == frozenset()
    before = await world.attempt(answered.wire_id)
    world.pass_time(1)
    assert await world.begin(attempt) == frozenset()
    assert await world.attempt(answered.wire_id) == before


async def test_a_batch_begins_each_with_its_own_process(world: World) -> None:
    await world.job()
    await world.start(count=5)
    attempts = [each.attempt for each in await world.claim()]
    begun = [Beginning(attempt_id=each.id, fence=each.fence, pid=each.id, log_path=None) for each in attempts]
    await world.database.write(claiming.begin, begun)
    assert all(each.pid == each.id and each.state is RunState.RUNNING for each in await world.attempts())


async def test_a_lease_is_renewed_for_its_own_fence_only(world: World) -> None:
    await world.job()
    (answered, _) = await world.start(count=2)
    mine, other = [each.attempt for each in await world.claim(ttl=10)]
    wrong = other.fence + 1
    renewed = await world.database.write(
        claiming.renew, held=[(mine.id, mine.fence), (other.id, wrong)], ttl_seconds=100
    )
    assert renewed == {mine.id}
    assert (await world.attempt(mine.wire_id)).lease_until > mine.lease_until  # type: ignore[operator]
    assert (await world.attempt(other.wire_id)).lease_until == other.lease_until
    assert answered.attempt_id in (mine.id, other.id)


async def test_an_ended_attempt_has_no_lease_to_renew(world: World) -> None:
    await world.job()
    await world.start()
    attempt = await world.run_one()
    assert await world.renew(attempt) == frozenset()


async def test_only_after_lease_and_margin_is_an_attempt_rescued(world: World) -> None:
    await world.job()
    (answered,) = await world.start()
    attempt = await world.claim_one()
    await world.begin(attempt)
    world.pass_time(62)
    assert await world.rescue(margin=5) == frozenset()
    world.pass_time(5)
    assert await world.rescue(margin=5) == {attempt.id}
    lost = await world.attempt(answered.wire_id)
    assert (lost.state, "worker lost" in str(lost.message)) == (RunState.FAILED, True)
    assert await world.rescue() == frozenset()


async def test_a_renewal_in_time_prevents_the_rescue(world: World) -> None:
    await world.job()
    await world.start()
    attempt = await world.claim_one()
    world.pass_time(64)
    await world.renew(attempt)
    world.pass_time(5)
    assert await world.rescue(margin=5) == frozenset()


async def test_a_rescued_attempt_is_retried_where_retries_remain(world: World) -> None:
    await world.job(retries=1)
    await world.start()
    lost = await world.claim_one()
    world.pass_time(100)
    await world.rescue()
    again = await world.claim_one()
    assert (again.run_id, again.number) == (lost.run_id, 1)
    assert await world.begin(lost) == {lost.id}
    assert await world.end(lost) == frozenset()


async def test_what_was_to_be_stopped_is_stopped_when_its_worker_is_lost(world: World) -> None:
    await world.job(retries=1)
    (answered,) = await world.start()
    await world.begin(await world.claim_one())
    await world.stop(answered.wire_id)
    world.pass_time(100)
    await world.rescue()
    assert await world.states() == ["STOPPED"]


async def test_a_restarted_worker_adopts_what_its_host_holds(world: World) -> None:
    await world.job()
    await world.start(count=2)
    (first, second) = [each.attempt for each in await world.claim()]
    await world.begin(first)
    other = World(world.database, node="elsewhere", host="elsewhere")
    await world.start()
    await other.claim_one()
    again = Claimant(node="reborn", host="host")
    adopted = await world.database.write(claiming.adopt, claimant=again, ttl_seconds=60)
    assert {(each.attempt.id, each.attempt.fence, each.attempt.node) for each in adopted} == {
        (first.id, first.fence, "reborn"),
        (second.id, second.fence, "reborn"),
    }
    assert await world.database.write(claiming.adopt, claimant=again, ttl_seconds=60) == ()


async def test_a_node_hears_which_of_its_attempts_are_to_be_stopped(world: World) -> None:
    await world.job()
    answered = await world.start(count=2)
    await world.claim(limit=1)
    await World(world.database, node="other").claim(limit=1)
    await world.stop(*(each.wire_id for each in answered))
    assert len(await world.database.read(claiming.stopping, node="node")) == 1
    assert await world.database.read(claiming.stopping, node="third") == []


@pytest.mark.parametrize("count", [1, 1_500])
async def test_a_claim_of_any_size_is_whole(world: World, count: int) -> None:
    await world.job()
    await world.start(count=count)
    claimed = await world.claim(limit=2_000)
    assert len(claimed) == count
    assert {each.attempt.fence for each in claimed} == {1}
