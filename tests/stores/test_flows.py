"""Flows on every store: each edge is taken once, in the transaction that ends the run it waits for."""

import asyncio

import pytest

from tests.stores.flowing import AT_ONCE, Flowing
from tests.stores.store import Store
from tests.stores.world import EVERY_MINUTE, PLACE
from waterclock.domain.errors import ConcurrentRunsExceeded, InvalidInput, NotAllowed, NotFound, WrongState
from waterclock.domain.flow import FlowState
from waterclock.domain.run import RunState
from waterclock.domain.trigger import FireRules, Logical, OverCap
from waterclock.stores.base import Database
from waterclock.stores.ops import flow_runs, flows, jobs

OK, BAD = RunState.SUCCEEDED, RunState.FAILED


@pytest.fixture
def flowing(database: Database) -> Flowing:
    return Flowing(database)


@pytest.fixture
async def diamond(flowing: Flowing) -> Flowing:
    """a, then b and c, then d when both went well; e when one of them failed."""
    await flowing.flow()
    for name in "abcde":
        await flowing.job(name)
    await flowing.begins("a")
    await flowing.then("split", "b", "c", on={"a": "SUCCEEDED"})
    await flowing.then("join", "d", on={"b": "SUCCEEDED", "c": "SUCCEEDED"})
    await flowing.then("alarm", "e", on={"b": "FAILED", "c": "FAILED"}, logical=Logical.ANY)
    return flowing


async def test_a_flow_runs_stage_by_stage_to_its_end(diamond: Flowing) -> None:
    wire_id = await diamond.start_flow()
    assert wire_id.startswith("wr_")
    assert await diamond.finish_all() == [["a"], ["b", "c"], ["d"]]
    run = await diamond.flow_run(wire_id)
    assert run.state is FlowState.COMPLETED
    assert run.ended_at is not None
    assert await diamond.nodes(wire_id) == dict.fromkeys("abcd", OK)


async def test_a_flow_is_completed_even_when_nodes_failed(diamond: Flowing) -> None:
    wire_id = await diamond.start_flow()
    await diamond.finish()
    await diamond.finish(c=BAD)
    assert (await diamond.flow_run(wire_id)).state is FlowState.RUNNING
    assert await diamond.finish_all() == [["e"]]
    assert (await diamond.flow_run(wire_id)).state is FlowState.COMPLETED
    assert await diamond.nodes(wire_id) == {"a": OK, "b": OK, "c": BAD, "e": OK}


async def test_a_node_that_is_retried_moves_nothing_until_its_last_attempt(flowing: Flowing) -> None:
    await flowing.flow()
    await flowing.job("a", retries=1)
    await flowing.job("b")
    await flowing.begins("a")
    await flowing.then("then", "b", on={"a": "SUCCEEDED"})
    await flowing.start_flow()
    assert await flowing.finish(BAD) == ["a"]
    assert await flowing.finish_all() == [["a"], ["b"]]


async def test_the_runs_know_their_flow(diamond: Flowing) -> None:
    wire_id = await diamond.start_flow()
    (attempt,) = await diamond.attempts()
    assert attempt.arguments == {"--WORKFLOW_NAME": "flow", "--WORKFLOW_RUN_ID": wire_id}
    assert (attempt.trigger_name, attempt.requested_by) == ("start", "bob")


async def test_the_graph_is_fixed_at_the_start(diamond: Flowing) -> None:
    wire_id = await diamond.start_flow()
    await diamond.then("late", "e", on={"a": "SUCCEEDED"})
    assert await diamond.finish_all() == [["a"], ["b", "c"], ["d"]]
    assert (await diamond.flow_run(wire_id)).state is FlowState.COMPLETED
    await diamond.start_flow()
    assert await diamond.finish_all() == [["a"], ["b", "c", "e"], ["d"]]


async def test_guarded_actions_of_a_stage_run_one_after_another_and_all_have_rows(diamond: Flowing) -> None:
    wire_id = await diamond.start_flow(rules=FireRules())
    await diamond.finish()
    assert await diamond.nodes(wire_id) == {"a": OK, "b": RunState.STARTING, "c": RunState.WAITING}
    assert await diamond.finish_all() == [["b"], ["c"], ["d"]]


async def test_many_runs_of_one_flow_at_once_keep_their_own_edges(diamond: Flowing) -> None:
    wire_ids = [await diamond.start_flow() for _ in range(20)]
    assert await diamond.finish_all() == [["a"] * 20, ["b"] * 20 + ["c"] * 20, ["d"] * 20]
    for wire_id in wire_ids:
        assert (await diamond.flow_run(wire_id)).state is FlowState.COMPLETED


async def test_two_nodes_that_end_at_once_on_two_nodes_fire_the_join_once(shared: Store) -> None:
    one, two = (Flowing(each) for each in await shared.open_many(2))
    await one.flow()
    for name in "abcd":
        await one.job(name)
    await one.begins("a")
    await one.then("split", "b", "c", on={"a": "SUCCEEDED"})
    await one.then("join", "d", on={"b": "SUCCEEDED", "c": "SUCCEEDED"})
    wire_ids = [await one.start_flow() for _ in range(10)]
    await one.finish()
    claimed = [each.attempt for each in await one.claim()]
    await one.begin(*claimed)
    ends = [(one if attempt.job_name == "b" else two).end(attempt, state=OK) for attempt in claimed]
    await asyncio.gather(*ends)
    assert await one.finish_all() == [["d"] * 10]
    assert {(await one.flow_run(wire_id)).state for wire_id in wire_ids} == {FlowState.COMPLETED}


async def test_ending_twice_fires_once(diamond: Flowing) -> None:
    await diamond.start_flow()
    attempt = await diamond.claim_one()
    await diamond.begin(attempt)
    assert await diamond.end(attempt) == {attempt.id}
    assert await diamond.end(attempt) == frozenset()
    assert await diamond.finish_all() == [["b", "c"], ["d"]]


async def test_a_job_that_is_gone_is_an_error_and_the_flow_ends(diamond: Flowing) -> None:
    wire_id = await diamond.start_flow()
    await diamond.database.write(jobs.delete_job, **PLACE, name="b", allow=lambda _: None)
    assert await diamond.finish_all() == [["a"], ["c"]]
    assert await diamond.nodes(wire_id) == {"a": OK, "b": RunState.ERROR, "c": OK}
    assert (await diamond.flow_run(wire_id)).state is FlowState.COMPLETED


@pytest.mark.parametrize(("over_cap", "state"), [(OverCap.SKIP, RunState.SKIPPED), (OverCap.FAIL, BAD)])
async def test_a_node_over_its_jobs_cap_is_skipped_or_failed(
    flowing: Flowing, over_cap: OverCap, state: RunState
) -> None:
    await flowing.flow()
    await flowing.job("a", max_concurrent=1)
    await flowing.job("b")
    await flowing.begins("a")
    await flowing.then("then", "b", on={"a": "FAILED"})
    rules = FireRules(sequential=False, over_cap=over_cap)
    await flowing.start_flow(rules=rules)
    second = await flowing.start_flow(rules=rules)
    after = {} if state is RunState.SKIPPED else {"b": RunState.STARTING}  # what could not start has ended, too
    assert await flowing.nodes(second) == {"a": state, **after}


async def test_a_node_of_a_queueing_job_waits_for_its_slot(flowing: Flowing) -> None:
    await flowing.flow()
    await flowing.job("a", max_concurrent=1, queueing=True)
    await flowing.begins("a")
    runs = [await flowing.start_flow() for _ in range(3)]
    assert [(await flowing.nodes(each))["a"] for each in runs] == [RunState.STARTING, *[RunState.WAITING] * 2]
    assert await flowing.finish_all() == [["a"]] * 3
    assert {(await flowing.flow_run(each)).state for each in runs} == {FlowState.COMPLETED}


async def test_the_cap_of_a_flow_counts_its_live_runs(flowing: Flowing) -> None:
    await flowing.flow(cap=1)
    await flowing.job("a")
    await flowing.begins("a")
    await flowing.start_flow()
    with pytest.raises(ConcurrentRunsExceeded, match="workflow 'flow' already has its 1"):
        await flowing.start_flow()
    await flowing.finish_all()
    await flowing.start_flow()


async def test_of_many_starts_at_once_only_the_cap_gets_through(shared: Store) -> None:
    worlds = [Flowing(each) for each in await shared.open_many(4)]
    await worlds[0].flow(cap=2)
    await worlds[0].job("a")
    await worlds[0].begins("a")
    answers = await asyncio.gather(*(world.start_flow() for world in worlds), return_exceptions=True)
    assert sorted(isinstance(answer, ConcurrentRunsExceeded) for answer in answers) == [False, False, True, True]


async def test_a_scheduled_start_trigger_makes_one_run_per_instant(flowing: Flowing) -> None:
    flow = await flowing.flow(properties={"lake": "east"})
    await flowing.job("a")
    trigger = await flowing.begins("a", schedule=EVERY_MINUTE, start=True)
    await flowing.pass_minute()
    fired = await flowing.fire(rules=AT_ONCE)
    assert (fired.triggers, fired.runs) == (1, 1)
    (run,) = await flowing.flow_runs(flow)
    assert (run.trigger_name, run.properties, run.run_at) == ("start", {"lake": "east"}, trigger.next_fire_at)
    assert await flowing.finish_all() == [["a"]]
    assert (await flowing.flow_run(run.wire_id)).state is FlowState.COMPLETED


async def test_a_fire_over_the_flows_cap_or_without_its_flow_is_skipped_with_the_reason(
    flowing: Flowing, store: Store
) -> None:
    await flowing.flow(cap=1)
    await flowing.job("a")
    await flowing.begins("a")
    for _ in range(2):
        await flowing.start_trigger()
    await flowing.finish_all()
    await flowing.database.write(flows.delete_flow, **PLACE, name="flow", allow=lambda _: None)
    await flowing.start_trigger()
    ledger = await store.rows("SELECT outcome, reason FROM fires ORDER BY id") if store.kind != "memory" else None
    if ledger is not None:
        assert [row["outcome"] for row in ledger] == ["FIRED", "SKIPPED", "SKIPPED"]
        assert "already has its 1 concurrent" in ledger[1]["reason"]
        assert "does not exist any more" in ledger[2]["reason"]


async def test_a_flow_has_one_start_trigger(diamond: Flowing) -> None:
    with pytest.raises(NotAllowed, match="start trigger already: 'start'"):
        await diamond.begins("b", name="second")
    with pytest.raises(NotFound, match="workflow 'nowhere'"):
        await diamond.begins("b", name="second", flow="nowhere")


async def test_a_flow_without_triggers_is_completed_at_once(flowing: Flowing) -> None:
    await flowing.flow()
    wire_id = await flowing.start_flow()
    assert (await flowing.flow_run(wire_id)).state is FlowState.COMPLETED
    await flowing.stop_flow(wire_id)


async def test_stopping_a_flow_run_fires_nothing_more_and_waits_for_the_proof(diamond: Flowing) -> None:
    wire_id = await diamond.start_flow()
    await diamond.finish()
    running = await diamond.claim_one()
    await diamond.begin(running)
    await diamond.stop_flow(wire_id)
    assert (await diamond.flow_run(wire_id)).state is FlowState.STOPPING
    await diamond.stop_flow(wire_id)  # said again: no error
    await diamond.end(running, state=RunState.STOPPED)
    assert (await diamond.flow_run(wire_id)).state is FlowState.STOPPED
    assert await diamond.finish_all() == []
    with pytest.raises(WrongState):
        await diamond.stop_flow(wire_id)


async def test_stopping_what_nobody_has_claimed_stops_at_once(diamond: Flowing) -> None:
    wire_id = await diamond.start_flow()
    await diamond.stop_flow(wire_id)
    assert (await diamond.flow_run(wire_id)).state is FlowState.STOPPED
    assert await diamond.nodes(wire_id) == {"a": RunState.STOPPED}


async def test_a_run_of_another_flow_is_not_found(diamond: Flowing) -> None:
    await diamond.flow("other")
    wire_id = await diamond.start_flow()
    with pytest.raises(NotFound):
        await diamond.flow_run(wire_id, "other")


async def test_properties_are_laid_over_each_other(flowing: Flowing) -> None:
    await flowing.flow(properties={"a": "flow", "b": "flow", "c": "flow"})
    wire_id = await flowing.start_flow(b="run", c="run")
    put = {"c": "put", "d": "put"}
    await flowing.database.write(flow_runs.put_properties, **PLACE, name="flow", wire_id=wire_id, properties=put)
    assert (await flowing.flow_run(wire_id)).properties == {"a": "flow", "b": "run", "c": "put", "d": "put"}


async def test_resuming_runs_the_chosen_node_and_what_follows_as_a_new_run(diamond: Flowing) -> None:
    first = await diamond.start_flow(lake="east")
    await diamond.finish()
    await diamond.finish(c=BAD)
    await diamond.finish_all()
    second = await diamond.resume(first, await diamond.node_id(first, "c"))
    run = await diamond.flow_run(second)
    assert (run.previous_wire_id, run.properties, run.state) == (first, {"lake": "east"}, FlowState.RUNNING)
    assert await diamond.nodes(second) == {"a": OK, "b": OK, "c": RunState.STARTING}
    assert await diamond.finish_all() == [["c"], ["d"]]
    assert (await diamond.flow_run(second)).state is FlowState.COMPLETED
    assert len(await diamond.of_job("a")) == 1
    detail = (await diamond.database.read(flow_runs.details, flow_run_ids=[run.id]))[run.id]
    shown = {attempts[0].job_name for attempts in detail.attempts.values()}
    assert shown == {"a", "b", "c", "d"}  # those that were carried over show the old run's attempts


async def test_only_a_run_that_has_ended_can_be_resumed_from_nodes_that_ran(diamond: Flowing) -> None:
    wire_id = await diamond.start_flow()
    with pytest.raises(WrongState, match="RUNNING"):
        await diamond.resume(wire_id, await diamond.node_id(wire_id, "a"))
    await diamond.finish_all()
    with pytest.raises(InvalidInput, match="no node that ran"):
        await diamond.resume(wire_id, await diamond.node_id(wire_id, "e"))
    with pytest.raises(NotFound):
        await diamond.resume("wr_unknown", "x")


async def test_a_lost_worker_fails_its_node_and_the_flow_goes_on(diamond: Flowing) -> None:
    await diamond.then("after-loss", "e", on={"a": "FAILED"})
    wire_id = await diamond.start_flow()
    await diamond.begin(await diamond.claim_one())
    diamond.pass_time(120)
    await diamond.rescue()
    assert await diamond.finish_all() == [["e"]]
    assert await diamond.nodes(wire_id) == {"a": BAD, "e": OK}


async def test_the_last_run_of_each_flow_is_found(diamond: Flowing) -> None:
    flow = await diamond.flow("second")
    await diamond.start_flow("second")
    newest = await diamond.start_flow("second")
    found = await diamond.database.read(flow_runs.last_flow_runs, flow_ids=[flow.id])
    assert found[flow.id].wire_id == newest
