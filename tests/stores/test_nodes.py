"""Nodes and pruning in every store."""

from tests.stores.store import Store
from tests.stores.world import World
from waterclock.domain.moment import SECOND
from waterclock.stores.ops import nodes
from waterclock.stores.ops.nodes import Node

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
    skew = await world.database.write(nodes.beat, node=ONE, wall_us=ahead)
    assert 3_500 * SECOND < skew <= 3_600 * SECOND


async def test_a_second_beat_in_the_same_moment_still_finds_its_row(world: World) -> None:
    """MySQL counts changed rows unless it is told to count found ones."""
    for _ in range(5):
        await world.database.write(nodes.beat, node=ONE, wall_us=0)
    assert len(await world.database.read(nodes.list_nodes, within_seconds=30)) == 1


async def test_a_stopped_node_is_gone(world: World) -> None:
    await world.database.write(nodes.beat, node=ONE, wall_us=0)
    await world.database.write(nodes.stop_node, node_id="one")
    assert await world.database.read(nodes.list_nodes, within_seconds=30) == []


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
    pruned = await world.database.write(nodes.prune_runs, keep_seconds=DAY)
    assert pruned.runs == 1
    assert len(pruned.log_paths) == 1
    assert sorted(await world.states()) == ["RUNNING", "SUCCEEDED"]
    assert (await world.database.write(nodes.prune_runs, keep_seconds=DAY)).runs == 0


async def test_old_fires_moves_and_nodes_are_pruned(world: World, store: Store) -> None:
    await world.job()
    await world.trigger()
    await world.database.write(nodes.beat, node=ONE, wall_us=0)
    await world.pass_minute()
    await world.fire()
    world.pass_time(3 * DAY)
    await world.fire()
    await world.database.write(nodes.prune_ledger, keep_seconds=2 * DAY, keep_moves_seconds=DAY)
    if store.kind != "memory":
        (counted,) = await store.rows(
            "SELECT (SELECT COUNT(*) FROM fires WHERE outcome = 'FIRED') AS fires,"
            " (SELECT COUNT(*) FROM transitions) AS moves, (SELECT COUNT(*) FROM nodes) AS nodes"
        )
        assert counted["moves"] == 1
        assert counted["nodes"] == 0
        assert counted["fires"] >= 1
