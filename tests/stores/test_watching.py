"""Conditional triggers outside flows: they fire on runs that a trigger started, once for each end that meets them."""

import asyncio

import pytest

from tests.stores.flowing import AT_ONCE, Flowing
from tests.stores.store import Store
from tests.stores.world import PLACE
from waterclock.domain.run import RunState
from waterclock.domain.trigger import Logical
from waterclock.stores.base import Database
from waterclock.stores.ops import triggers

BAD = RunState.FAILED


@pytest.fixture
async def watching(database: Database) -> Flowing:
    """Jobs a to d, and a trigger `start` that runs a and b."""
    world = Flowing(database)
    for name in "abcd":
        await world.job(name)
    await world.begins("a", "b", flow=None)
    return world


async def test_a_chain_of_conditional_triggers_runs_to_its_end(watching: Flowing) -> None:
    await watching.then("one", "c", on={"a": "SUCCEEDED"}, flow=None)
    await watching.then("two", "d", on={"c": "SUCCEEDED"}, flow=None)
    await watching.start_trigger()
    assert await watching.finish_all() == [["a", "b"], ["c"], ["d"]]
    (attempt,) = await watching.of_job("c")
    assert attempt.trigger_name == "one"


async def test_a_run_that_no_trigger_started_is_not_watched(watching: Flowing) -> None:
    await watching.then("one", "c", on={"a": "SUCCEEDED"}, flow=None)
    await watching.start("a")
    assert await watching.finish_all() == [["a"]]


async def test_another_outcome_fires_nothing(watching: Flowing) -> None:
    await watching.then("one", "c", on={"a": "SUCCEEDED"}, flow=None)
    await watching.then("alarm", "d", on={"a": "FAILED"}, flow=None)
    await watching.start_trigger()
    await watching.finish(a=BAD)
    assert await watching.finish_all() == [["d"]]


async def test_and_waits_for_both_and_fires_once_for_each_pair(watching: Flowing) -> None:
    await watching.then("both", "c", on={"a": "SUCCEEDED", "b": "SUCCEEDED"}, flow=None)
    for _ in range(3):
        await watching.start_trigger()
        assert await watching.finish_all() == [["a", "b"], ["c"]]


async def test_and_remembers_over_transactions_and_the_last_end_counts(watching: Flowing) -> None:
    await watching.then("both", "c", on={"a": "SUCCEEDED", "b": "SUCCEEDED"}, flow=None)
    await watching.start_trigger()
    await watching.finish(b=BAD)
    await watching.start_trigger()
    await watching.finish(a=BAD)  # b is well now, a is not any more
    assert await watching.finish_all() == []
    await watching.start_trigger()
    assert await watching.finish_all() == [["a", "b"], ["c"]]


async def test_any_fires_for_each_end(watching: Flowing) -> None:
    await watching.then("any", "c", on={"a": "SUCCEEDED", "b": "SUCCEEDED"}, logical=Logical.ANY, flow=None)
    await watching.start_trigger()
    assert await watching.finish_all() == [["a", "b"], ["c", "c"]]


async def test_a_trigger_that_is_not_running_watches_nothing_and_forgets(watching: Flowing) -> None:
    await watching.then("both", "c", on={"a": "SUCCEEDED", "b": "SUCCEEDED"}, flow=None)
    await watching.start_trigger()
    await watching.finish(b=BAD)
    key = {**PLACE, "name": "both", "allow": lambda _: None}
    await watching.database.write(triggers.stop_trigger, **key, stop_runs=False)
    await watching.database.write(triggers.start_trigger, **key, rules={})
    await watching.start_trigger()
    await watching.finish(a=BAD)
    assert await watching.finish_all() == []


async def test_many_ends_in_one_batch_fire_once_each_with_their_own_row_in_the_ledger(
    watching: Flowing, store: Store
) -> None:
    await watching.then("each", "c", on={"a": "SUCCEEDED"}, flow=None)
    for _ in range(10):
        await watching.start_trigger()
    claimed = [each.attempt for each in await watching.claim()]
    await watching.begin(*claimed)
    await watching.end(*claimed)
    assert len(await watching.of_job("c")) == 10
    if store.kind != "memory":
        fires = await store.rows("SELECT fire_at FROM fires WHERE trigger_name = 'each'")
        assert len({row["fire_at"] for row in fires}) == len(fires) == 10


async def test_ends_at_once_on_several_nodes_fire_once_each(shared: Store) -> None:
    worlds = [Flowing(each) for each in await shared.open_many(3)]
    one = worlds[0]
    for name in "abc":
        await one.job(name)
    await one.begins("a", "b", flow=None)
    await one.then("each", "c", on={"a": "SUCCEEDED", "b": "SUCCEEDED"}, logical=Logical.ANY, flow=None)
    for _ in range(9):
        await one.start_trigger()
    claimed = [each.attempt for each in await one.claim()]
    await one.begin(*claimed)
    await asyncio.gather(*(worlds[n % 3].end(attempt) for n, attempt in enumerate(claimed)))
    assert len(await one.of_job("c")) == 18


async def test_a_stop_before_the_start_is_an_end_too(watching: Flowing) -> None:
    await watching.then("stopped", "c", on={"a": "STOPPED"}, flow=None)
    await watching.start_trigger()
    (attempt,) = await watching.of_job("a")
    await watching.stop(attempt.wire_id)
    assert await watching.finish_all() == [["b", "c"]]


async def test_guarded_actions_of_a_conditional_trigger_follow_one_another(watching: Flowing) -> None:
    await watching.then("one", "c", "d", on={"a": "SUCCEEDED"}, flow=None)
    await watching.start_trigger(rules=AT_ONCE)
    assert await watching.finish_all() == [["a", "b"], ["c"], ["d"]]
