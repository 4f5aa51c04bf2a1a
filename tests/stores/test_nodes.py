"""Nodes, messages and pruning in every store."""

from tests.stores.store import Store
from tests.stores.world import World
from waterclock.domain.moment import SECOND
from waterclock.stores.ops import messages, nodes
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


async def test_messages_are_listed_newest_first(world: World) -> None:
    for number in range(3):
        words = {"kind": "run", "severity": "warning", "subject": f"s{number}", "body": "물 💧"}
        await world.database.write(messages.add_message, org_id=1, run_id=number, **words)
    found = await world.database.read(messages.list_messages, org_id=1, before=2**62, limit=2)
    assert [(each.subject, each.body, each.run_id) for each in found] == [("s2", "물 💧", 2), ("s1", "물 💧", 1)]
    older = await world.database.read(messages.list_messages, org_id=1, before=found[-1].id, limit=2)
    assert [each.subject for each in older] == ["s0"]
    assert await world.database.read(messages.list_messages, org_id=2, before=2**62, limit=2) == []


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


async def test_a_run_that_takes_longer_than_its_job_said_is_told_of_once(world: World) -> None:
    await world.job(notify_after_seconds=60)
    late, quick = await world.start(count=2)
    attempts = {each.attempt.wire_id: each.attempt for each in await world.claim()}
    await world.begin(*attempts.values())
    await world.end(attempts[quick.wire_id])
    assert list(await world.database.write(messages.tell_of_late_runs)) == []
    world.pass_time(61)
    assert list(await world.database.write(messages.tell_of_late_runs)) == [late.wire_id]
    assert list(await world.database.write(messages.tell_of_late_runs)) == []
    (told,) = await world.database.read(messages.list_messages, org_id=1, before=2**62, limit=9)
    assert (told.run_id, late.wire_id in told.body) == (late.run_id, True)
