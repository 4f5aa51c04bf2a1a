"""Firing in every store: each due instant once, whoever fires, with runs or the reason why there are none."""

import asyncio
from collections import Counter

import pytest

from tests.stores.store import Store
from tests.stores.world import EVERY_SECOND, PLACE, World
from waterclock.domain.errors import AlreadyExists
from waterclock.domain.moment import SECOND
from waterclock.domain.run import RunState
from waterclock.domain.trigger import Action, Fire, FireRules, OverCap, Target, TriggerType
from waterclock.stores.base import Tx
from waterclock.stores.ops.jobs import delete_job
from waterclock.stores.ops.triggers import get_triggers, list_fires, start_trigger, stop_trigger

ALL_AT_ONCE = FireRules(sequential=False, over_cap=OverCap.FAIL)
ALWAYS = {"policy": "all", "grace_seconds": 3_600}


async def fires(world: World, name: str = "trigger") -> list[Fire]:
    """Oldest first."""
    trigger = (await world.database.read(get_triggers, **PLACE, names=[name]))[name]
    return (await world.database.read(list_fires, org_id=1, trigger_id=trigger.id, before=2**62, limit=10_000))[::-1]


async def test_a_due_trigger_fires_and_moves_on(world: World) -> None:
    job = await world.job(retries=2, default_arguments={"--a": "1", "--b": "1"})
    made = await world.trigger("trigger", Action(target=Target.JOB, name="job", arguments={"--b": "2"}))
    await world.pass_minute()
    fired = await world.fire()
    (attempt,) = await world.attempts()
    assert (fired.triggers, fired.runs) == (1, 1)
    assert attempt.run_at == made.next_fire_at
    assert (attempt.state, attempt.number, attempt.job_id, attempt.kind) == (RunState.STARTING, 0, job.id, "shell")
    assert attempt.arguments == {"--a": "1", "--b": "2"}
    assert (attempt.owner, attempt.requested_by, attempt.trigger_name) == ("ann", "ann", "trigger")
    assert fired.next_due_at is not None
    assert fired.next_due_at > fired.now


async def test_what_is_not_due_does_not_fire(world: World) -> None:
    await world.job()
    far = {"kind": "once", "at": await world.now() + 3_600 * SECOND}
    await world.trigger(schedule=far)
    fired = await world.fire()
    assert (fired.triggers, fired.next_due_at) == (0, far["at"])


async def test_where_nothing_is_scheduled_nothing_is_due(world: World) -> None:
    fired = await world.fire()
    assert (fired.triggers, fired.runs, fired.next_due_at) == (0, 0, None)


async def test_a_one_shot_fires_once_and_never_again(world: World) -> None:
    await world.job()
    await world.trigger(schedule={"kind": "once", "at": await world.now() + SECOND})
    world.pass_time(2)
    assert (await world.fire()).runs == 1
    world.pass_time(100)
    assert (await world.fire()).triggers == 0


async def test_a_round_fires_no_more_triggers_than_it_may(world: World) -> None:
    await world.job()
    for number in range(5):
        await world.trigger(f"t{number}")
    await world.pass_minute()
    assert [(await world.fire(limit=2)).triggers for _ in range(4)] == [2, 2, 1, 0]


async def test_instants_that_were_missed_leave_one_row_with_their_number(world: World) -> None:
    await world.job()
    await world.trigger(schedule=EVERY_SECOND, misfire={"policy": "skip", "grace_seconds": 1})
    world.pass_time(100)
    await world.fire()
    skipped, *on_time = await fires(world)
    assert (skipped.outcome, skipped.first_at < skipped.last_at) == ("SKIPPED", True)
    assert skipped.count == 1 + (skipped.last_at - skipped.first_at) // SECOND
    assert skipped.reason is not None
    assert all(fire.outcome == "FIRED" for fire in on_time)
    assert skipped.count + len(on_time) >= 99


async def test_every_instant_is_fired_once_by_many_schedulers(shared: Store) -> None:
    worlds = [World(database) for database in await shared.open_many(4)]
    await worlds[0].job()
    triggers = [f"t{number}" for number in range(20)]
    made = {name: await worlds[0].trigger(name, schedule=EVERY_SECOND, misfire=ALWAYS) for name in triggers}

    async def schedule(world: World) -> None:
        for _ in range(6):
            await world.pass_minute()
            await world.fire(limit=7)
            await world.fire(limit=7)

    await asyncio.gather(*(schedule(world) for world in worlds))
    while (await worlds[0].fire()).triggers:
        pass
    for name in triggers:
        begins = made[name].next_fire_at
        assert begins is not None
        instants = [fire.fire_at for fire in await fires(worlds[0], name)]
        assert instants == list(range(begins, instants[-1] + 1, SECOND))
        assert len(instants) >= 6
    per_fire = Counter((attempt.trigger_name, attempt.run_at) for attempt in await worlds[0].attempts())
    assert set(per_fire.values()) == {1}
    assert len(per_fire) == sum([len(await fires(worlds[0], name)) for name in triggers])


async def test_the_ledger_refuses_the_same_instant_twice(world: World) -> None:
    await world.job()
    await world.trigger()
    await world.pass_minute()
    await world.fire()
    (fire,) = await fires(world)

    async def again(tx: Tx) -> None:
        row = {"id": 4711, "org_id": 1, "trigger_id": fire.trigger_id, "trigger_name": "trigger", "generation": 1}
        span = {"fire_at": fire.fire_at, "first_at": fire.fire_at, "last_at": fire.fire_at, "instants": 1}
        await tx.run("insert_fire", {**row, **span, "outcome": "FIRED", "reason": None, "created_at": 0})

    with pytest.raises(AlreadyExists, match="fire"):
        await world.database.write(again)


async def test_all_actions_have_their_row_at_once_and_the_later_ones_wait(world: World) -> None:
    for name in "abc":
        await world.job(name)
    await world.trigger("trigger", *"abc")
    await world.pass_minute()
    await world.fire()
    attempts = sorted(await world.attempts(), key=lambda attempt: attempt.id)
    assert [(each.job_name, each.state) for each in attempts] == [("a", "STARTING"), ("b", "WAITING"), ("c", "WAITING")]
    assert attempts[1].wait_reason is not None
    assert "earlier action" in attempts[1].wait_reason
    assert len({each.run_at for each in attempts}) == 1


async def test_the_actions_start_together_under_the_rules_of_aws(world: World) -> None:
    for name in "abc":
        await world.job(name)
    await world.trigger("trigger", *"abc")
    await world.pass_minute()
    await world.fire(rules=ALL_AT_ONCE)
    assert await world.states() == ["STARTING"] * 3


@pytest.mark.parametrize(("rules", "state"), [(FireRules(), "SKIPPED"), (ALL_AT_ONCE, "FAILED")])
async def test_over_the_cap_a_fire_leaves_its_reason(world: World, store: Store, rules: FireRules, state: str) -> None:
    await world.job(max_concurrent=1)
    await world.trigger()
    await world.start()
    await world.pass_minute()
    assert (await world.fire(rules=rules)).runs == 1
    assert await world.states() == (["STARTING"] if state == "SKIPPED" else ["STARTING", "FAILED"])
    if store.kind != "memory":
        (row,) = await store.rows(f"SELECT message, ended_at FROM runs WHERE state = '{state}'")
        assert "concurrent" in row["message"]
        assert row["ended_at"] is not None


async def test_over_the_cap_a_fire_waits_where_the_job_queues(world: World) -> None:
    await world.job(max_concurrent=1, queueing=True)
    await world.trigger()
    await world.start()
    await world.pass_minute()
    await world.fire()
    assert sorted(await world.states()) == ["STARTING", "WAITING"]


async def test_two_instants_of_one_round_share_the_cap(world: World) -> None:
    await world.job(max_concurrent=2, queueing=True)
    await world.trigger(schedule=EVERY_SECOND, misfire=ALWAYS)
    world.pass_time(5)
    await world.fire()
    counted = Counter(await world.states())
    assert counted["STARTING"] == 2
    assert counted["WAITING"] >= 3


async def test_a_fire_whose_job_is_gone_is_an_error(world: World) -> None:
    await world.job()
    await world.trigger()
    await world.database.write(delete_job, **PLACE, name="job", allow=lambda _: None)
    await world.pass_minute()
    await world.fire()
    (attempt,) = await world.attempts()
    assert (attempt.state, attempt.job_id, attempt.job_name) == (RunState.ERROR, None, "job")
    assert attempt.message is not None
    assert attempt.ended_at is not None
    assert await world.claim() == []


async def test_a_crawler_is_skipped_and_the_next_action_runs(world: World, store: Store) -> None:
    await world.job()
    await world.trigger("trigger", Action(target=Target.CRAWLER, name="crawler"), "job")
    await world.pass_minute()
    assert (await world.fire()).runs == 2
    assert await world.states() == ["STARTING"]
    if store.kind != "memory":
        (row,) = await store.rows("SELECT message FROM runs WHERE state = 'SKIPPED'")
        assert "crawler" in row["message"]


async def test_nothing_fires_after_an_acknowledged_stop(shared: Store) -> None:
    one, other = [World(database) for database in await shared.open_many(2)]
    await one.job()
    await one.trigger(schedule=EVERY_SECOND, misfire=ALWAYS)
    key = {**PLACE, "name": "trigger", "allow": lambda _: None}
    for _ in range(10):
        for world in (one, other):
            world.pass_time(1)
        await asyncio.gather(other.fire(), one.database.write(stop_trigger, **key, stop_runs=False))
        known = len(await fires(one))
        other.pass_time(0.5)
        assert (await other.fire()).triggers == 0
        assert len(await fires(one)) == known
        other.pass_time(-0.5)
        await one.database.write(start_trigger, **key, rules={})


async def test_on_demand_and_scheduled_fires_of_one_moment_are_both_kept(world: World) -> None:
    await world.job()
    await world.trigger("by hand", kind=TriggerType.ON_DEMAND, start=False)
    await world.trigger("by clock", schedule=EVERY_SECOND)
    await world.pass_minute()
    await world.fire()
    await world.database.write(start_trigger, **PLACE, name="by hand", allow=lambda _: None, rules={})
    assert {each.trigger_name for each in await world.attempts()} == {"by hand", "by clock"}
