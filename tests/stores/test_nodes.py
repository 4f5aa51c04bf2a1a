"""Nodes and pruning in every store."""

from dataclasses import replace

import pytest

from tests.stores.store import Store
from tests.stores.world import TTL, World
from waterclock.domain.moment import SECOND
from waterclock.stores.base import Database
from waterclock.stores.ops import gauges, nodes, pruning
from waterclock.stores.ops.nodes import Node, Pulse

DAY = 86_400.0
ONE = Node(id="one", host="h", name="eins", duties=("api", "worker"), labels=("gpu",), slots=4, version="0.1", pid=7)


async def test_a_node_is_there_while_it_beats(world: World) -> None:
    await world.database.write(nodes.beat, node=ONE, wall_us=0)
    (seen,) = await world.database.read(nodes.list_nodes, within_seconds=30)
    assert (seen.id, seen.duties, seen.labels, seen.slots, seen.pid) == ("one", ("api", "worker"), ("gpu",), 4, 7)
    world.pass_time(31)
    assert await world.database.read(nodes.list_nodes, within_seconds=30) == []
    await world.database.write(nodes.beat, node=ONE, wall_us=0)
    (again,) = await world.database.read(nodes.list_nodes, within_seconds=30)
    assert again.heartbeat_at > seen.heartbeat_at
    assert again.started_at == seen.started_at


async def test_a_beat_tells_how_far_the_clocks_are_apart(world: World) -> None:
    ahead = await world.now() + 3_600 * SECOND
    answer = await world.database.write(nodes.beat, node=ONE, wall_us=ahead)
    assert 3_500 * SECOND < answer.skew_us <= 3_600 * SECOND


async def test_a_second_beat_in_the_same_moment_still_finds_its_row(world: World) -> None:
    """MySQL counts changed rows unless it is told to count found ones."""
    for _ in range(5):
        await world.database.write(nodes.beat, node=ONE, wall_us=0)
    assert len(await world.database.read(nodes.list_nodes, within_seconds=30)) == 1


async def test_a_stopped_node_is_gone(world: World) -> None:
    await world.database.write(nodes.beat, node=ONE, wall_us=0)
    await world.database.write(nodes.stop_node, node_id="one")
    assert await world.database.read(nodes.list_nodes, within_seconds=30) == []


async def test_a_node_that_is_to_drain_hears_it_at_its_next_beat_and_says_when_it_has(world: World) -> None:
    database = world.database
    assert not (await database.write(nodes.beat, node=ONE, wall_us=0)).draining
    assert await database.write(nodes.drain_node, node_id="one")
    seen = ONE
    for pulse in (Pulse(running=3), Pulse(running=1)):
        assert (await database.write(nodes.beat, node=ONE, wall_us=0, pulse=pulse)).draining
        (seen,) = await database.read(nodes.list_nodes, within_seconds=30)
        assert (seen.running, seen.draining_at is None, seen.drained_at) == (pulse.running, False, None)
    await database.write(nodes.beat, node=ONE, wall_us=0, pulse=Pulse(drained=True))
    (drained,) = await database.read(nodes.list_nodes, within_seconds=30)
    world.pass_time(1)
    await database.write(nodes.drain_node, node_id="one")  # again: nothing begins anew
    await database.write(nodes.beat, node=ONE, wall_us=0, pulse=Pulse(drained=True))
    (still,) = await database.read(nodes.list_nodes, within_seconds=30)
    assert (still.draining_at, still.drained_at) == (seen.draining_at, drained.drained_at)
    assert await database.write(nodes.resume_node, node_id="one")
    assert not (await database.write(nodes.beat, node=ONE, wall_us=0)).draining
    (back,) = await database.read(nodes.list_nodes, within_seconds=30)
    assert (back.draining_at, back.drained_at) == (None, None)


async def test_a_node_is_not_drained_while_the_store_knows_of_something_that_it_holds(database: Database) -> None:
    world = World(database, node=ONE.id, host=ONE.host)
    await world.job()
    await world.start()
    attempt = await world.claim_one()
    await database.write(nodes.beat, node=ONE, wall_us=0)
    await database.write(nodes.drain_node, node_id="one")
    await database.write(nodes.beat, node=ONE, wall_us=0, pulse=Pulse(drained=True))
    (seen,) = await database.read(nodes.list_nodes, within_seconds=30)
    assert seen.drained_at is None
    await world.begin(attempt)
    await world.end(attempt)
    await database.write(nodes.beat, node=ONE, wall_us=0, pulse=Pulse(drained=True))
    (seen,) = await database.read(nodes.list_nodes, within_seconds=30)
    assert seen.drained_at is not None


async def test_nobody_drains_a_node_that_is_not_there(world: World) -> None:
    assert not await world.database.write(nodes.drain_node, node_id="one")
    await world.database.write(nodes.beat, node=ONE, wall_us=0)
    await world.database.write(nodes.stop_node, node_id="one")
    assert not await world.database.write(nodes.drain_node, node_id="one")
    assert await world.database.read(nodes.find_node, node_id="one") is None


@pytest.mark.parametrize(
    ("duties", "stopped", "drains"),
    [(("worker",), False, True), (("worker",), True, False), (("scheduler",), False, False)],
)
async def test_a_drain_outlives_a_crash_of_a_worker_but_not_its_stop(
    world: World, duties: tuple[str, ...], stopped: bool, drains: bool
) -> None:
    """Of schedulers there may be several in one data directory: nobody knows which one came back."""
    database, before = world.database, replace(ONE, duties=duties)
    await database.write(nodes.beat, node=before, wall_us=0)
    await database.write(nodes.drain_node, node_id="one")
    if stopped:
        await database.write(nodes.stop_node, node_id="one")
    world.pass_time(1)
    again = replace(before, id="two")
    for _ in range(2):
        assert (await database.write(nodes.beat, node=again, wall_us=0)).draining is drains
    elsewhere = replace(before, id="three", host="other")
    assert not (await database.write(nodes.beat, node=elsewhere, wall_us=0)).draining


async def test_live_attempts_are_counted_by_queue(world: World) -> None:
    await world.job("capped", max_concurrent=1, queueing=True, queue="slow")
    await world.job("free", queue="default")
    await world.start("capped", count=3)
    await world.start("free", count=3)
    due_at = await world.now()
    held = await world.claim(limit=2, queues=("default",))
    await world.begin(held[0].attempt)
    world.pass_time(5)
    slow, default = sorted(await world.database.read(gauges.queue_loads), key=lambda load: -load.waiting)
    assert (slow.queue, slow.waiting, slow.starting, slow.running) == ("slow", 2, 1, 0)
    assert (default.queue, default.waiting, default.starting, default.running) == ("default", 0, 2, 1)
    assert 5 * SECOND <= default.oldest_us(await world.now()) < 60 * SECOND
    assert slow.oldest_due_at is not None
    assert slow.oldest_due_at <= due_at
    assert await world.database.read(gauges.leases) == gauges.Leases(held=2, overdue=0)
    world.pass_time(TTL)
    assert await world.database.read(gauges.leases) == gauges.Leases(held=2, overdue=2)


def test_of_very_many_queues_the_fullest_are_told_by_name() -> None:
    loads = [gauges.QueueLoad(queue=f"queue {number}", starting=number) for number in range(gauges.MOST_QUEUES + 3)]
    told = gauges.the_fullest(loads)
    assert len(told) == gauges.MOST_QUEUES + 1
    assert (told[0].queue, told[-1].queue, told[-1].starting) == ("queue 102", gauges.OTHERS, 0 + 1 + 2)


async def test_the_queues_are_counted_by_state(world: World) -> None:
    await world.job(max_concurrent=2, queueing=True)
    await world.start(count=5)
    await world.run_one()
    assert await world.database.read(nodes.queue_sizes) == {"STARTING": 2, "WAITING": 2}


async def test_old_runs_are_pruned_with_their_attempts_and_live_ones_stay(world: World) -> None:
    await world.job()
    await world.start(count=3)
    await world.run_one()
    old = await world.claim_one()
    await world.begin(old)
    world.pass_time(2 * DAY)
    await world.run_one()
    pruned = await world.database.write(pruning.prune_runs, keep_seconds=DAY)
    assert pruned.runs == 1
    assert len(pruned.log_paths) == 1
    assert sorted(await world.states()) == ["RUNNING", "SUCCEEDED"]
    assert (await world.database.write(pruning.prune_runs, keep_seconds=DAY)).runs == 0


async def test_old_fires_moves_and_nodes_are_pruned(world: World, store: Store) -> None:
    await world.job()
    await world.trigger()
    await world.database.write(nodes.beat, node=ONE, wall_us=0)
    await world.pass_minute()
    await world.fire()
    world.pass_time(3 * DAY)
    await world.fire()
    await world.database.write(pruning.prune_ledger, keep_seconds=2 * DAY, keep_moves_seconds=DAY)
    if store.kind != "memory":
        (counted,) = await store.rows(
            "SELECT (SELECT COUNT(*) FROM fires WHERE outcome = 'FIRED') AS fires,"
            " (SELECT COUNT(*) FROM transitions) AS moves, (SELECT COUNT(*) FROM nodes) AS nodes"
        )
        assert counted["moves"] == 1
        assert counted["nodes"] == 0
        assert counted["fires"] >= 1
