"""What a claim takes in every store: what fits into a worker's memory, and its share while others have room."""

from collections.abc import Sequence
from typing import Any

from tests.stores.world import World
from waterclock.domain.claim import Claimant, Claimed
from waterclock.domain.moment import SECOND
from waterclock.domain.placement import AGED_US, MB, Others, why_waiting
from waterclock.domain.run import RunState
from waterclock.stores.ops import claiming, nodes
from waterclock.stores.ops.nodes import Node, Pulse
from waterclock.stores.ops.placing import workers_alive

AGED_SECONDS = AGED_US / SECOND


async def asking(world: World, **asked_mb: int) -> None:
    """A job and a run for each, one after another."""
    for name, wanted in asked_mb.items():
        await world.job(name, limits={"memory_bytes": wanted * MB - MB // 2} if wanted else {})
        await world.start(name)
        world.pass_time(1)


async def worker(world: World, name: str, running: int = 0, **told: Any) -> None:
    record = Node(id=name, host=name, name=name, duties=("worker",), version="1", pid=1, **told)
    for _ in range(2):  # the first one says that it is there, the next how it is
        await world.database.write(nodes.beat, node=record, wall_us=0, pulse=Pulse(running=running))


def names(claimed: Sequence[Claimed]) -> list[str]:
    return [each.attempt.job_name for each in claimed]


# Memory


async def test_what_is_claimed_fits_into_the_free_memory_together(world: World) -> None:
    await asking(world, big=900, half=500, third=333, nothing=0, rest=300)
    assert names(await world.claim(memory_mb=1_000, free_mb=800)) == ["half", "nothing", "rest"]
    assert await world.claim(memory_mb=1_000, free_mb=332) == []
    assert names(await world.claim(memory_mb=1_000, free_mb=333)) == ["third"]
    assert names(await world.claim(memory_mb=1_000, free_mb=1_000)) == ["big"]


async def test_a_worker_that_does_not_count_takes_any_size(world: World) -> None:
    await asking(world, big=2**40)
    assert names(await world.claim()) == ["big"]


async def test_what_waits_for_memory_is_no_reason_to_ask_again_at_once(world: World) -> None:
    await asking(world, big=900)
    me = Claimant(node="node", host="host", memory_mb=1_000, free_mb=800)
    claims = await world.database.write(claiming.claim, claimant=me, limit=9, ttl_seconds=60)
    assert (claims.claimed, claims.next_due_at) == ((), None)


async def test_small_ones_pass_a_big_one_until_it_has_aged(world: World) -> None:
    await asking(world, big=900, small=100)
    assert names(await world.claim(memory_mb=1_000, free_mb=800)) == ["small"]
    world.pass_time(AGED_SECONDS)
    await asking(world, later=100, nothing=0)
    assert names(await world.claim(memory_mb=1_000, free_mb=800)) == ["nothing"]
    assert names(await world.claim(memory_mb=1_000, free_mb=1_000)) == ["big", "later"]


async def test_nothing_is_kept_free_for_what_never_fits(world: World) -> None:
    await asking(world, huge=5_000)
    world.pass_time(AGED_SECONDS)
    await asking(world, small=100)
    assert names(await world.claim(memory_mb=1_000, free_mb=800)) == ["small"]


async def test_a_retry_asks_for_as_much_as_the_first_attempt(world: World) -> None:
    await world.job(limits={"memory_bytes": 900 * MB}, retries=1)
    await world.start()
    await world.run_one(RunState.FAILED)
    assert await world.claim(memory_mb=1_000, free_mb=899) == []
    assert [each.attempt.number for each in await world.claim(memory_mb=1_000, free_mb=900)] == [1]


# Shares


async def test_a_worker_takes_its_share_while_others_have_room(world: World) -> None:
    await world.job()
    await world.start(count=12)
    me = Claimant(node="node", host="host", others_room=20)
    claims = await world.database.write(claiming.claim, claimant=me, limit=10, ttl_seconds=60)
    assert (len(claims.claimed), claims.left) == (4, True)


async def test_where_there_is_enough_for_all_a_worker_takes_all_it_can(world: World) -> None:
    await world.job()
    await world.start(count=40)
    me = Claimant(node="node", host="host", others_room=20)
    claims = await world.database.write(claiming.claim, claimant=me, limit=10, ttl_seconds=60)
    assert (len(claims.claimed), claims.left) == (10, False)


async def test_a_sharing_worker_hears_of_the_next_retry(world: World) -> None:
    await world.job(retries=1, retry_delay_seconds=30)
    await world.start()
    await world.run_one(RunState.FAILED)
    me = Claimant(node="node", host="host", others_room=20)
    claims = await world.database.write(claiming.claim, claimant=me, limit=10, ttl_seconds=60)
    assert (claims.left, claims.next_due_at is not None) == (False, True)


async def test_whoever_looks_hears_how_much_room_the_others_have(world: World) -> None:
    await worker(world, "busy", slots=10, running=8, queues=("default", "slow"))
    await worker(world, "idle", slots=5)
    await worker(world, "full", slots=3, running=3, queues=("default",))
    await worker(world, "elsewhere", slots=9, queues=("other",))
    await worker(world, "host", slots=9, queues=("default",))  # what we were before
    await worker(world, "draining", slots=9, queues=("default",))
    await world.database.write(nodes.drain_node, node_id="draining")
    me = Claimant(node="node", host="host", look_seconds=10)
    claims = await world.database.write(claiming.claim, claimant=me, limit=10, ttl_seconds=60)
    assert claims.others == Others(room=7, load=0.0)
    world.pass_time(11)
    claims = await world.database.write(claiming.claim, claimant=me, limit=10, ttl_seconds=60)
    assert claims.others == Others(room=0)


# Organisations


async def test_a_worker_of_one_organisation_sees_no_runs_of_another(world: World) -> None:
    await world.job()
    await world.start()
    assert await world.claim(org_id=2) == []
    assert len(await world.claim(org_id=1)) == 1


# Why


async def why(world: World) -> str | None:
    (attempt,) = await world.attempts()
    return why_waiting(attempt, await world.database.read(workers_alive, within_seconds=30))


async def test_a_run_that_no_live_worker_can_take_says_why(world: World) -> None:
    await world.job(queue="slow", labels=("gpu", "ssd"), limits={"memory_bytes": 900 * MB})
    await world.start()
    assert await why(world) == "no worker is alive"
    await worker(world, "a", slots=1, queues=("default",))
    assert await why(world) == "no live worker serves queue slow"
    await worker(world, "b", slots=1, queues=("slow",), labels=("gpu",))
    assert await why(world) == "no live worker that serves queue slow offers labels gpu,ssd"
    await worker(world, "c", slots=1, running=1, queues=("slow",), labels=("gpu", "ssd"), memory_mb=512)
    assert await why(world) == "no live worker that may take it has 900 MB of memory: the largest has 512 MB"
    await worker(world, "d", slots=1, running=1, queues=("slow",), labels=("gpu", "ssd", "x"), memory_mb=1_000)
    assert await why(world) == "all slots of the 2 live worker(s) that may take it are busy"
    await worker(world, "e", slots=1, queues=("slow",), labels=("gpu", "ssd"))
    assert await why(world) is None
