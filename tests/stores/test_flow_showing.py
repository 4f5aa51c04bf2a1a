"""Flows as they are shown, and how their old runs go, on every store."""

from collections.abc import Sequence

import pytest

from tests.stores.flowing import AT_ONCE, Flowing
from tests.stores.store import Store
from tests.stores.world import PLACE
from waterclock.domain.errors import NotFound
from waterclock.domain.run import RunState
from waterclock.engine.pruner import BREATH_SECONDS, REST_SECONDS, Pruner
from waterclock.stores.base import Database
from waterclock.stores.ops import flow_showing, pruning
from waterclock.stores.ops.flow_showing import ShownFlow, ShownRun
from waterclock.stores.ops.reading import FROM_THE_NEWEST

DAY = 86_400.0
OK, BAD = RunState.SUCCEEDED, RunState.FAILED


@pytest.fixture
async def flowing(database: Database) -> Flowing:
    """Two flows: `flow` is a and then b, `bare` has no triggers."""
    flowing = Flowing(database)
    for name in ("flow", "bare"):
        await flowing.flow(name)
    await flowing.job("a", retries=1)
    await flowing.job("b")
    await flowing.begins("a")
    await flowing.then("then", "b", on={"a": "SUCCEEDED"})
    return flowing


async def shown(flowing: Flowing, *names: str, with_graph: bool = True) -> dict[str, ShownFlow]:
    return await flowing.database.read(
        flow_showing.show_flows, **PLACE, names=names, rules=AT_ONCE, with_graph=with_graph
    )


async def shown_runs(flowing: Flowing, *, with_graph: bool, limit: int = 10) -> Sequence[ShownRun]:
    return await flowing.database.read(
        flow_showing.show_flow_runs,
        **PLACE,
        name="flow",
        before=FROM_THE_NEWEST,
        limit=limit,
        with_graph=with_graph,
    )


async def test_flows_are_shown_with_their_triggers_and_last_runs(flowing: Flowing) -> None:
    await flowing.start_flow()
    last = await flowing.start_flow()
    found = await shown(flowing, "flow", "bare", "nobody")
    assert found.keys() == {"flow", "bare"}
    flow, bare = found["flow"], found["bare"]
    assert flow.last_run is not None
    assert flow.last_run.run.wire_id == last
    assert flow.graph is not None
    assert [(stage.name, [node.action.name for node in stage.nodes]) for stage in flow.graph.stages] == [
        ("start", ["a"]),
        ("then", ["b"]),
    ]
    assert {trigger.name for trigger in flow.triggers.values()} == {"start", "then"}
    assert flow.graph == flow.last_run.run.graph
    assert (bare.last_run, bare.graph and bare.graph.stages, bare.triggers) == (None, (), {})


async def test_without_its_graph_a_flow_is_shown_without_attempts_and_triggers(flowing: Flowing) -> None:
    await flowing.start_flow()
    flow = (await shown(flowing, "flow", with_graph=False))["flow"]
    assert (flow.graph, flow.triggers) == (None, {})
    assert flow.last_run is not None
    assert (flow.last_run.attempts, flow.last_run.triggers) == ({}, {})
    assert list(flow.last_run.states.values()) == [RunState.STARTING]


async def test_runs_are_shown_newest_first_with_every_attempt(flowing: Flowing) -> None:
    old = await flowing.start_flow()
    await flowing.finish(BAD)
    await flowing.finish_all()
    new = await flowing.start_flow()
    newest, oldest = await shown_runs(flowing, with_graph=True)
    assert (newest.run.wire_id, oldest.run.wire_id) == (new, old)
    a, b = (node.id for node in oldest.run.graph.nodes)
    assert oldest.states == {a: OK, b: OK}
    assert [attempt.state for attempt in oldest.attempts[a]] == [BAD, OK]
    assert [attempt.state for attempt in oldest.attempts[b]] == [OK]
    assert newest.states == {a: RunState.STARTING}
    assert [each.states for each in await shown_runs(flowing, with_graph=False)] == [newest.states, oldest.states]
    assert len(await shown_runs(flowing, with_graph=False, limit=1)) == 1


async def test_a_flow_or_a_run_that_is_not_there_is_not_found(flowing: Flowing) -> None:
    wire_id = await flowing.start_flow()
    show = flow_showing.show_flow_run
    with pytest.raises(NotFound):
        await flowing.database.read(show, **PLACE, name="bare", wire_id=wire_id, with_graph=False)
    with pytest.raises(NotFound):
        await flowing.database.read(
            flow_showing.show_flow_runs,
            **PLACE,
            name="nobody",
            before=FROM_THE_NEWEST,
            limit=1,
            with_graph=False,
        )


async def test_old_flow_runs_are_pruned_with_their_nodes_and_live_ones_stay(flowing: Flowing, store: Store) -> None:
    for _ in range(2):
        await flowing.start_flow()
        await flowing.finish_all()
    live = await flowing.start_flow()
    flowing.pass_time(2 * DAY)
    recent = await flowing.start_flow("bare")
    assert await flowing.database.write(pruning.prune_flow_runs, keep_seconds=DAY) == 2
    assert await flowing.database.write(pruning.prune_flow_runs, keep_seconds=DAY) == 0
    assert [each.run.wire_id for each in await shown_runs(flowing, with_graph=True)] == [live]
    assert (await flowing.flow_run(recent, "bare")).wire_id == recent
    if store.kind != "memory":
        (counted,) = await store.rows("SELECT COUNT(*) AS nodes FROM flow_nodes")
        assert counted["nodes"] == 1


async def test_a_flow_run_outlives_the_runs_of_its_nodes(flowing: Flowing) -> None:
    wire_id = await flowing.start_flow()
    await flowing.finish()
    flowing.pass_time(2 * DAY)
    assert (await flowing.database.write(pruning.prune_runs, keep_seconds=DAY)).runs == 1
    await flowing.finish_all()
    assert await flowing.nodes(wire_id) == {"a": OK, "b": OK}


async def test_the_pruner_comes_back_soon_while_there_is_something_old(flowing: Flowing) -> None:
    pruner = Pruner(flowing.database, keep_days=1)
    await flowing.start_flow("bare")
    flowing.pass_time(2 * DAY)
    assert [await pruner.tick() for _ in range(2)] == [BREATH_SECONDS, REST_SECONDS]
