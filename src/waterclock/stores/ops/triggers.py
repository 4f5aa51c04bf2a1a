"""Triggers: made, redefined, set going, stopped and deleted, each under its rule and its lock."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from waterclock.domain.errors import AlreadyExists, NotAllowed, NotFound
from waterclock.domain.flow import starts_flow
from waterclock.domain.moment import Moment, from_datetime, to_datetime
from waterclock.domain.planning import Moments, let_go
from waterclock.domain.quota import QuotaKind
from waterclock.domain.trigger import (
    Action,
    Condition,
    Fire,
    FireRules,
    Target,
    Trigger,
    TriggerSpec,
    TriggerState,
    TriggerType,
)
from waterclock.stores.base import Kind, Topic, Tx
from waterclock.stores.ops.ending import GUARDED_EVERYWHERE
from waterclock.stores.ops.fire_rows import skip_row
from waterclock.stores.ops.firing import Due, write_fires
from waterclock.stores.ops.flows import triggers_of_flow
from waterclock.stores.ops.jobs import get_jobs
from waterclock.stores.ops.quotas import keep_owners_quota
from waterclock.stores.ops.repeats import was_done
from waterclock.stores.ops.rows import action_row, condition_row, dumped, fire_of, schedule_of, trigger_of
from waterclock.stores.ops.stopping import stop_by_ids
from waterclock.stores.ops.trigger_reading import with_parts

Rule = Callable[[Trigger], None]

FIRST_GENERATION: Final = 1


async def create_trigger(
    tx: Tx,
    *,
    org_id: int,
    namespace: str,
    name: str,
    owner: str,
    spec: TriggerSpec,
    definition: Mapping[str, object],
    tags: Mapping[str, str],
    start: bool,
    late: bool = False,
) -> Trigger:
    """All its jobs must exist now, and its flow, which has one start trigger; `start` schedules it at once.

    `late`: what has its last instant behind it fires that one.
    """
    key = {"org_id": org_id, "namespace": namespace, "name": name}
    if await tx.fetch_one("trigger_by_name", key):
        raise AlreadyExists("trigger", name)
    await keep_owners_quota(tx, org_id=org_id, namespace=namespace, owner=owner, kind=QuotaKind.TRIGGERS)
    await _fits_flow(tx, org_id, namespace, name, spec)
    await _jobs_must_exist(tx, org_id, namespace, spec)
    now = await tx.now()
    (trigger_id,) = await tx.numbers(Kind.TRIGGER, 1)
    row = {
        **key,
        **_spec_row(spec),
        "id": trigger_id,
        "owner": owner,
        "state": TriggerState.RUNNING if start else TriggerState.STANDBY,
        "next_fire_at": next_fire(row_schedule(spec), now, late=late) if start else None,
        "version": 1,
        "generation": FIRST_GENERATION,
        "definition": dumped(definition),
        "tags": dumped(tags),
        "ticker": "",
        "created_at": now,
        "updated_at": now,
    }
    await tx.run("insert_trigger", row)
    await _insert_parts(tx, row, spec)
    if start:
        tx.wake(Topic.TRIGGERS)
    return trigger_of(row, spec.actions, _conditions(spec))


async def update_trigger(
    tx: Tx,
    *,
    org_id: int,
    namespace: str,
    name: str,
    revise: Callable[[Trigger], tuple[TriggerSpec, Mapping[str, object]]],
    allow: Rule,
    late: bool = False,
) -> Trigger:
    """Redefined as a new generation; a running one (where the rules allow it) goes on with the new schedule."""
    trigger = await lock_trigger(tx, org_id=org_id, namespace=namespace, name=name)
    allow(trigger)
    spec, definition = revise(trigger)
    await _jobs_must_exist(tx, org_id, namespace, spec)
    now = await tx.now()
    running = trigger.state is TriggerState.RUNNING
    await _let_go(tx, trigger, now, "redefined before it fired")
    row = {
        **_spec_row(spec),
        "id": trigger.id,
        "org_id": org_id,
        "namespace": namespace,
        "was": trigger.version,
        "next_fire_at": next_fire(row_schedule(spec), now, late=late) if running else None,
        "definition": dumped(definition),
        "updated_at": now,
    }
    await tx.run("redefine_trigger", row)
    await _delete_parts(tx, trigger)
    await _insert_parts(tx, row, spec)
    tx.wake(Topic.TRIGGERS)
    return await _again(tx, trigger)


async def start_trigger(
    tx: Tx,
    *,
    org_id: int,
    namespace: str,
    name: str,
    allow: Rule,
    rules: Mapping[str, FireRules],
    digest: str | None = None,
) -> Trigger:
    """SCHEDULED: its next instant after now. CONDITIONAL: it watches from now on, what ended before does not count.
    ON_DEMAND: fired once, now, and it stays as it was."""
    trigger = await lock_trigger(tx, org_id=org_id, namespace=namespace, name=name)
    if digest and await was_done(tx, digest):
        return trigger
    allow(trigger)
    now = await tx.now()
    if trigger.spec.type is TriggerType.ON_DEMAND:
        row = await tx.fetch_one("trigger_by_name", {"org_id": org_id, "namespace": namespace, "name": name})
        if row is None:
            raise NotFound("trigger", name)
        await write_fires(tx, [Due(row, Moments((now,), (), None))], rules, now)
        return trigger
    await tx.run("forget_conditions", {"id": trigger.id})
    await _move(tx, trigger, TriggerState.RUNNING, next_fire(row_schedule(trigger.spec), now), now)
    tx.wake(Topic.TRIGGERS)
    return await _again(tx, trigger)


async def stop_trigger(
    tx: Tx,
    *,
    org_id: int,
    namespace: str,
    name: str,
    allow: Rule,
    stop_runs: bool,
    rules: Mapping[str, FireRules] = GUARDED_EVERYWHERE,
) -> Trigger:
    """Nothing of it fires once this is acknowledged; where the rules say so its live runs are stopped, too."""
    trigger = await lock_trigger(tx, org_id=org_id, namespace=namespace, name=name)
    allow(trigger)
    now = await tx.now()
    await _let_go(tx, trigger, now, "stopped before it fired")
    await _move(tx, trigger, TriggerState.STOPPED, None, now)
    if stop_runs:
        rows = await tx.fetch("live_attempt_ids_of_trigger", {"trigger_id": trigger.id})
        await stop_by_ids(tx, [row["id"] for row in rows], now, rules)
    return await _again(tx, trigger)


async def delete_trigger(tx: Tx, *, org_id: int, namespace: str, name: str, allow: Rule) -> Trigger:
    trigger = await lock_trigger(tx, org_id=org_id, namespace=namespace, name=name)
    allow(trigger)
    await _let_go(tx, trigger, await tx.now(), "deleted before it fired")
    await _delete_parts(tx, trigger)
    await tx.run("delete_trigger", {"id": trigger.id, "was": trigger.version})
    return trigger


async def get_triggers(tx: Tx, *, org_id: int, namespace: str, names: Sequence[str]) -> dict[str, Trigger]:
    rows = await tx.fetch("triggers_by_names", {"org_id": org_id, "namespace": namespace, "names": list(names)})
    return {trigger.name: trigger for trigger in await with_parts(tx, rows)}


async def list_triggers(
    tx: Tx, *, org_id: int, namespaces: Sequence[str], job_name: str | None, after: str, limit: int, after_id: int = 0
) -> list[Trigger]:
    values = {"org_id": org_id, "namespaces": list(namespaces), "after": after, "after_id": after_id, "limit": limit}
    if job_name is None:
        return await with_parts(tx, await tx.fetch("triggers_of_org", values))
    return await with_parts(tx, await tx.fetch("triggers_of_job", {**values, "job_name": job_name}))


async def list_fires(
    tx: Tx, *, org_id: int, trigger_id: int, before: Moment, limit: int, before_id: int = 0
) -> list[Fire]:
    values = {"org_id": org_id, "trigger_id": trigger_id, "before": before, "before_id": before_id, "limit": limit}
    return [fire_of(row) for row in await tx.fetch("fires_of_trigger", values)]


async def lock_trigger(tx: Tx, *, org_id: int, namespace: str, name: str) -> Trigger:
    row = await tx.fetch_one("lock_trigger", {"org_id": org_id, "namespace": namespace, "name": name})
    if row is None:
        raise NotFound("trigger", name)
    (trigger,) = await with_parts(tx, [row])
    return trigger


def row_schedule(spec: TriggerSpec) -> str | None:
    return dumped(spec.schedule) if spec.schedule else None


def next_fire(schedule: str | None, now: Moment, *, late: bool = False) -> Moment | None:
    if schedule is None:
        return None
    when, at = schedule_of(schedule), to_datetime(now)
    found = when.next_after(at) or (when.last_at_or_before(at) if late else None)
    return None if found is None else from_datetime(found)


def _spec_row(spec: TriggerSpec) -> dict[str, object]:
    return {
        "type": spec.type,
        "expression": spec.expression,
        "schedule": row_schedule(spec),
        "misfire": dumped(spec.misfire),
        "logical": spec.predicate.logical if spec.predicate else None,
        "flow_name": spec.flow_name,
    }


def _conditions(spec: TriggerSpec) -> tuple[Condition, ...]:
    return spec.predicate.conditions if spec.predicate else ()


async def _insert_parts(tx: Tx, row: Mapping[str, object], spec: TriggerSpec) -> None:
    await tx.run_many("insert_trigger_action", [action_row(row, n, action) for n, action in enumerate(spec.actions)])
    if conditions := [condition_row(row, n, each) for n, each in enumerate(_conditions(spec))]:
        await tx.run_many("insert_trigger_condition", conditions)


async def _delete_parts(tx: Tx, trigger: Trigger) -> None:
    await tx.run("delete_trigger_actions", {"id": trigger.id})
    await tx.run("delete_trigger_conditions", {"id": trigger.id})


async def _fits_flow(tx: Tx, org_id: int, namespace: str, name: str, spec: TriggerSpec) -> None:
    if spec.flow_name is None:
        return
    # Held until the commit: of two start triggers made at once one must see the other.
    if not await tx.fetch_one("lock_flow", {"org_id": org_id, "namespace": namespace, "name": spec.flow_name}):
        raise NotFound("workflow", spec.flow_name)
    if not starts_flow(spec):
        return
    for other in await triggers_of_flow(tx, org_id=org_id, namespace=namespace, flow_name=spec.flow_name):
        if other.name != name and starts_flow(other.spec):
            raise NotAllowed(f"workflow {spec.flow_name!r} has its start trigger already: {other.name!r}")


async def _jobs_must_exist(tx: Tx, org_id: int, namespace: str, spec: TriggerSpec) -> None:
    parts: tuple[Action | Condition, ...] = (*spec.actions, *_conditions(spec))
    names = sorted({part.name for part in parts if part.target is Target.JOB})
    if not names:
        return
    found = await get_jobs(tx, org_id=org_id, namespace=namespace, names=names)
    # Until the commit none of those that are still there can be deleted.
    ids = sorted(job.id for job in found.values())
    kept = {row["id"] for row in await tx.fetch("lock_jobs", {"ids": ids})}
    for name in names:
        if name not in found or found[name].id not in kept:
            raise NotFound("job", name)


async def _let_go(tx: Tx, trigger: Trigger, now: Moment, reason: str) -> None:
    """What is due and has not fired yet never will: the ledger says so, and why."""
    schedule, due = row_schedule(trigger.spec), trigger.next_fire_at
    if schedule is None or due is None or due > now:
        return
    (number,) = await tx.numbers(Kind.RUN, 1)
    key = {name: getattr(trigger, name) for name in ("id", "org_id", "name", "generation")}
    await tx.run("insert_fire", skip_row(key, let_go(schedule_of(schedule), due, now, reason), number, now))


async def _move(tx: Tx, trigger: Trigger, state: TriggerState, next_fire_at: Moment | None, now: Moment) -> None:
    values = {"id": trigger.id, "was": trigger.version, "updated_at": now}
    await tx.run("move_trigger", {**values, "state": state, "next_fire_at": next_fire_at})


async def _again(tx: Tx, trigger: Trigger) -> Trigger:
    found = await get_triggers(tx, org_id=trigger.org_id, namespace=trigger.namespace, names=[trigger.name])
    return found[trigger.name]
