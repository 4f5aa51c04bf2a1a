"""Triggers in every store: made, redefined, set going, stopped, deleted."""

from collections.abc import Mapping
from typing import Any

import pytest

from tests.stores.world import EVERY_SECOND, PLACE, World
from waterclock.domain.errors import AlreadyExists, NotAllowed, NotFound
from waterclock.domain.moment import MINUTE, SECOND
from waterclock.domain.trigger import Action, Target, Trigger, TriggerSpec, TriggerState, TriggerType
from waterclock.stores.ops.jobs import delete_job
from waterclock.stores.ops.triggers import (
    delete_trigger,
    get_triggers,
    list_fires,
    list_triggers,
    start_trigger,
    stop_trigger,
    update_trigger,
)

KEY = {**PLACE, "name": "trigger"}
REASONS = {"stop": "stopped", "update": "redefined", "delete": "deleted"}


def allow(_trigger: Trigger) -> None:
    pass


def refuse(_trigger: Trigger) -> None:
    raise NotAllowed("not today")


def every_hour(trigger: Trigger) -> tuple[TriggerSpec, Mapping[str, object]]:
    hourly = {**EVERY_SECOND, "interval": 3_600 * SECOND}
    return TriggerSpec(type=TriggerType.SCHEDULED, actions=trigger.spec.actions[:1], schedule=hourly), {"Name": "new"}


async def stored(world: World) -> Trigger:
    return (await world.database.read(get_triggers, **PLACE, names=["trigger"]))["trigger"]


async def test_a_trigger_is_read_back_as_it_was_written(world: World) -> None:
    await world.job("a")
    await world.job("b")
    second = Action(target=Target.JOB, name="b", arguments={"--x": "💧"}, timeout_seconds=60, notify_after_seconds=5)
    made = await world.trigger("trigger", "a", second, misfire={"policy": "skip"})
    assert await stored(world) == made
    assert made.spec.actions[1] == second


async def test_a_trigger_that_is_started_is_due_at_its_next_instant(world: World) -> None:
    await world.job()
    made = await world.trigger()
    assert made.state is TriggerState.RUNNING
    assert made.next_fire_at is not None
    assert made.next_fire_at % MINUTE == 0
    assert 0 < made.next_fire_at - made.created_at <= MINUTE


async def test_a_trigger_that_is_not_started_stands_by(world: World) -> None:
    await world.job()
    made = await world.trigger(start=False)
    assert (made.state, made.next_fire_at) == (TriggerState.STANDBY, None)


async def test_a_second_trigger_of_the_same_name_is_refused(world: World) -> None:
    await world.job()
    await world.trigger()
    with pytest.raises(AlreadyExists, match="trigger 'trigger'"):
        await world.trigger()


async def test_all_its_jobs_must_exist(world: World) -> None:
    await world.job()
    with pytest.raises(NotFound, match="'gone'"):
        await world.trigger("trigger", "job", "gone")
    assert await world.database.read(get_triggers, **PLACE, names=["trigger"]) == {}


async def test_a_crawler_need_not_exist(world: World) -> None:
    made = await world.trigger("trigger", Action(target=Target.CRAWLER, name="crawler"))
    assert made.spec.actions[0].target is Target.CRAWLER


async def test_starting_schedules_it_and_stopping_takes_it_off(world: World) -> None:
    await world.job()
    await world.trigger(start=False)
    started = await world.database.write(start_trigger, **KEY, allow=allow, rules={})
    assert started.state is TriggerState.RUNNING
    assert started.next_fire_at is not None
    stopped = await world.database.write(stop_trigger, **KEY, allow=allow, stop_runs=True)
    assert (stopped.state, stopped.next_fire_at) == (TriggerState.STOPPED, None)
    await world.pass_minute()
    assert (await world.fire()).triggers == 0


async def test_stopping_stops_its_live_runs_where_the_rules_say_so(world: World) -> None:
    await world.job()
    await world.trigger()
    await world.pass_minute()
    await world.fire()
    await world.start()
    await world.database.write(stop_trigger, **KEY, allow=allow, stop_runs=True)
    assert await world.states() == ["STOPPED", "STARTING"]


async def test_stopping_leaves_its_live_runs_where_the_rules_say_so(world: World) -> None:
    await world.job()
    await world.trigger()
    await world.pass_minute()
    await world.fire()
    await world.database.write(stop_trigger, **KEY, allow=allow, stop_runs=False)
    assert await world.states() == ["STARTING"]


@pytest.mark.parametrize("change", ["stop", "update", "delete"])
async def test_what_was_due_and_has_not_fired_when_it_is_changed_is_skipped_with_the_reason(
    world: World, change: str
) -> None:
    await world.job()
    made = await world.trigger(schedule=EVERY_SECOND)
    assert made.next_fire_at is not None
    world.pass_time(5)
    changes: dict[str, Any] = {
        "stop": (stop_trigger, {"stop_runs": True}),
        "update": (update_trigger, {"revise": every_hour}),
        "delete": (delete_trigger, {}),
    }
    operation, more = changes[change]
    await world.database.write(operation, **KEY, allow=allow, **more)
    (fire,) = await world.database.read(list_fires, org_id=1, trigger_id=made.id, before=2**62, limit=9)
    assert (fire.outcome, fire.reason) == ("SKIPPED", f"{REASONS[change]} before it fired")
    assert fire.first_at == made.next_fire_at
    assert fire.last_at <= await world.now() < fire.last_at + 3 * SECOND
    assert fire.count == 1 + (fire.last_at - fire.first_at) // SECOND >= 5


async def test_what_has_fired_is_not_skipped_as_well_when_it_is_stopped(world: World) -> None:
    await world.job()
    made = await world.trigger()
    await world.pass_minute()
    await world.fire()
    await world.database.write(stop_trigger, **KEY, allow=allow, stop_runs=True)
    (fire,) = await world.database.read(list_fires, org_id=1, trigger_id=made.id, before=2**62, limit=9)
    assert fire.outcome == "FIRED"


async def test_on_demand_it_fires_once_now_and_stands_by(world: World) -> None:
    await world.job()
    made = await world.trigger(kind=TriggerType.ON_DEMAND, start=False)
    before = await world.now()
    started = await world.database.write(start_trigger, **KEY, allow=allow, rules={})
    assert started.state is TriggerState.STANDBY
    (attempt,) = await world.attempts()
    assert (attempt.trigger_name, attempt.trigger_id) == ("trigger", made.id)
    assert before <= attempt.run_at <= await world.now()
    (fire,) = await world.database.read(list_fires, org_id=1, trigger_id=made.id, before=2**62, limit=9)
    assert (fire.fire_at, fire.outcome) == (attempt.run_at, "FIRED")


async def test_redefined_while_running_it_goes_on_with_the_new_schedule(world: World) -> None:
    await world.job()
    made = await world.trigger()
    changed = await world.database.write(update_trigger, **KEY, revise=every_hour, allow=allow)
    assert (changed.generation, changed.definition) == (made.generation + 1, {"Name": "new"})
    assert changed.next_fire_at is not None
    assert changed.next_fire_at % (3_600 * SECOND) == 0
    assert await stored(world) == changed


async def test_redefined_while_stopped_it_stays_stopped(world: World) -> None:
    await world.job()
    await world.trigger(start=False)
    changed = await world.database.write(update_trigger, **KEY, revise=every_hour, allow=allow)
    assert (changed.state, changed.next_fire_at) == (TriggerState.STANDBY, None)


async def test_what_the_rules_forbid_changes_nothing(world: World) -> None:
    await world.job()
    made = await world.trigger()
    for operation, more in (
        (update_trigger, {"revise": every_hour}),
        (delete_trigger, {}),
        (start_trigger, {"rules": {}}),
        (stop_trigger, {"stop_runs": True}),
    ):
        with pytest.raises(NotAllowed):
            await world.database.write(operation, **KEY, allow=refuse, **more)  # type: ignore[arg-type]
    assert await stored(world) == made


async def test_a_deleted_trigger_is_gone_and_its_fires_stay(world: World) -> None:
    await world.job()
    made = await world.trigger()
    await world.pass_minute()
    await world.fire()
    await world.database.write(delete_trigger, **KEY, allow=allow)
    assert await world.database.read(get_triggers, **PLACE, names=["trigger"]) == {}
    assert len(await world.database.read(list_fires, org_id=1, trigger_id=made.id, before=2**62, limit=9)) == 1
    await world.pass_minute()
    assert (await world.fire()).triggers == 0


async def test_a_trigger_made_again_under_its_name_is_another(world: World) -> None:
    await world.job()
    first = await world.trigger()
    await world.database.write(delete_trigger, **KEY, allow=allow)
    assert (await world.trigger()).id != first.id


async def test_triggers_are_listed_by_name_and_by_the_job_they_name(world: World) -> None:
    for job in ("x", "y"):
        await world.job(job)
    for name, jobs in (("b", ["x"]), ("a", ["x", "y"]), ("c", ["y"])):
        await world.trigger(name, *jobs)
    page: dict[str, Any] = {"org_id": 1, "namespaces": ["glue"], "after": "", "limit": 9}
    every = await world.database.read(list_triggers, **page, job_name=None)
    assert [each.name for each in every] == ["a", "b", "c"]
    assert [each.name for each in await world.database.read(list_triggers, **page, job_name="x")] == ["a", "b"]
    later = {**page, "after": "a", "after_id": every[0].id, "job_name": None}
    assert [each.name for each in await world.database.read(list_triggers, **later)] == ["b", "c"]


async def test_a_job_may_be_deleted_under_it_where_the_rules_allow(world: World) -> None:
    await world.job()
    await world.trigger()
    await world.database.write(delete_job, **PLACE, name="job", allow=lambda _: None)
    assert (await stored(world)).spec.actions[0].name == "job"
