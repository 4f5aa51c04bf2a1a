"""Chains: defined, redefined, switched and deleted together with the flow, the trigger and the job that they are.

A run that lives keeps the graph that it began with, whatever is changed meanwhile.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final, TypedDict, TypeVar

from waterclock.domain.chain import KIND, NAMESPACE, Chain, ChainSpec, Gate, Step, Switch, chain_name, schedule_of
from waterclock.domain.chain_graph import compile_chain
from waterclock.domain.errors import AlreadyExists, BadSchedule, NotAllowed, NotFound
from waterclock.domain.job import NO_CAP, JobSpec
from waterclock.domain.moment import Moment
from waterclock.domain.quota import QuotaKind
from waterclock.domain.schedule import to_json
from waterclock.domain.trigger import FireRules, Trigger, TriggerSpec, TriggerState, TriggerType
from waterclock.stores.base import Kind, Row, Tx
from waterclock.stores.ops.chain_rows import chain_of, chain_row, gate_row, step_row
from waterclock.stores.ops.flows import FlowFacts, create_flow, delete_flow, update_flow
from waterclock.stores.ops.jobs import create_job, delete_job
from waterclock.stores.ops.quotas import keep_quota
from waterclock.stores.ops.triggers import (
    create_trigger,
    delete_trigger,
    lock_trigger,
    start_trigger,
    stop_trigger,
    update_trigger,
)

Rule = Callable[[Chain], None]
Part = TypeVar("Part", Gate, Step)

ONE_RUN: Final = 1  # no overlap
NO_RULES: Final[Mapping[str, FireRules]] = {}


class _Key(TypedDict):
    """Where its flow, its trigger and its job are found."""

    org_id: int
    namespace: str
    name: str


async def create_chain(
    tx: Tx,
    *,
    org_id: int,
    owner: str,
    spec: ChainSpec,
    probe_seconds: float,
    chain_id: int | None = None,
    source: str | None = None,
) -> Chain:
    """`chain_id` is a number to keep, where it is free; one that cannot be read as a schedule must be OFF.

    A `source` is where an import found it; nothing is brought in from there twice.
    """
    if source and await tx.fetch_one("chain_of_source", {"org_id": org_id, "source": source}):
        raise AlreadyExists("chain from", source)
    await keep_quota(tx, org_id=org_id, user=owner, kind=QuotaKind.CHAINS)
    number = await _number(tx, chain_id)
    spec = await _numbered(tx, spec, None)
    now, name = await tx.now(), chain_name(number)
    key = _Key(org_id=org_id, namespace=NAMESPACE, name=name)
    await create_job(tx, **key, owner=owner, spec=JobSpec(kind=KIND, max_concurrent=NO_CAP), definition={}, tags={})
    flow = await create_flow(
        tx,
        **key,
        owner=owner,
        max_concurrent=ONE_RUN,
        properties={},
        definition={},
        tags={},
        graph=compile_chain(number, spec, probe_seconds=probe_seconds),
        roles=spec.roles,
    )
    await create_trigger(
        tx, **key, owner=owner, spec=_trigger_spec(name, spec), definition={}, tags={}, start=spec.is_scheduled
    )
    row = {**chain_row(number, spec, now), "org_id": org_id, "owner": owner, "flow_id": flow.id, "created_at": now}
    await tx.run("insert_chain", {**row, "source": source})
    await _insert_parts(tx, number, spec, now)
    return await get_chain(tx, org_id=org_id, chain_id=number)


async def update_chain(
    tx: Tx, *, org_id: int, chain_id: int, spec: ChainSpec, probe_seconds: float, allow: Rule
) -> Chain:
    """All of it. Parts that stay as they were keep their numbers, and with them what was learned of them."""
    trigger, chain = await _lock(tx, org_id, chain_id, allow)
    spec = await _numbered(tx, spec, chain.spec)
    now, key = await tx.now(), _key(chain)
    if (spec.timestr, spec.timezone) != (chain.spec.timestr, chain.spec.timezone):
        meant = _trigger_spec(chain.name, spec)
        trigger = await update_trigger(tx, **key, revise=lambda _: (meant, {}), allow=_anybody)
    await _switch_trigger(tx, trigger, is_on=spec.is_scheduled)
    await update_flow(
        tx,
        **key,
        max_concurrent=ONE_RUN,
        properties={},
        definition={},
        allow=_whatever_runs,
        graph=compile_chain(chain_id, spec, probe_seconds=probe_seconds),
        roles=spec.roles,
    )
    await tx.run("update_chain", chain_row(chain_id, spec, now))
    for statement in ("delete_chain_gates", "delete_chain_steps"):
        await tx.run(statement, {"chain_id": chain_id})
    await _insert_parts(tx, chain_id, spec, now)
    return await get_chain(tx, org_id=org_id, chain_id=chain_id)


async def switch_chain(tx: Tx, *, org_id: int, chain_id: int, switch: Switch, allow: Rule) -> Chain:
    """ON: its next instant after now, if it can be read. OFF: nothing fires any more; what runs goes on."""
    trigger, chain = await _lock(tx, org_id, chain_id, allow)
    spec = replace(chain.spec, switch=switch)
    if switch is Switch.ON:
        schedule_of(spec)
    await _switch_trigger(tx, trigger, is_on=spec.is_scheduled)
    await tx.run("switch_chain", {"id": chain_id, "is_on": int(switch is Switch.ON), "updated_at": await tx.now()})
    return await get_chain(tx, org_id=org_id, chain_id=chain_id)


async def delete_chain(tx: Tx, *, org_id: int, chain_id: int, allow: Rule) -> Chain:
    """Its runs and messages stay, until they are pruned."""
    _, chain = await _lock(tx, org_id, chain_id, allow)
    key = _key(chain)
    await delete_trigger(tx, **key, allow=_anybody)
    await delete_flow(tx, **key, allow=_nothing_runs)
    await delete_job(tx, **key, allow=lambda _: None)
    for statement in ("delete_chain_gates", "delete_chain_steps", "delete_chain"):
        await tx.run(statement, {"chain_id": chain_id})
    await tx.run("remember_deleted_chain", {"flow_id": chain.flow_id, "now": await tx.now()})
    return chain


async def get_chain(tx: Tx, *, org_id: int, chain_id: int) -> Chain:
    row = await tx.fetch_one("chain_by_id", {"id": chain_id, "org_id": org_id})
    if row is None:
        raise NotFound("chain", chain_id)
    (chain,) = await with_parts(tx, [row])
    return chain


async def list_chains(
    tx: Tx, *, org_id: int, after: int, limit: int, tag: str | None = None, switch: Switch | None = None
) -> list[Chain]:
    """By their numbers."""
    states = [int(switch is Switch.ON)] if switch else [0, 1]
    values = {"org_id": org_id, "after": after, "states": states, "limit": limit}
    if tag is None:
        return await with_parts(tx, await tx.fetch("chains_of_org", values))
    return await with_parts(tx, await tx.fetch("chains_of_tag", {**values, "tag": tag}))


async def with_parts(tx: Tx, rows: Sequence[Row]) -> list[Chain]:
    if not rows:
        return []
    ids = {"chain_ids": [row["id"] for row in rows]}
    gates, steps = defaultdict[int, list[Row]](list), defaultdict[int, list[Row]](list)
    for gate in await tx.fetch("gates_of_chains", ids):
        gates[gate["chain_id"]].append(gate)
    for step in await tx.fetch("steps_of_chains", ids):
        steps[step["chain_id"]].append(step)
    return [chain_of(row, gates[row["id"]], steps[row["id"]]) for row in rows]


async def _number(tx: Tx, wanted: int | None) -> int:
    if wanted is not None:
        if await tx.fetch_one("chain_exists", {"id": wanted}):
            raise AlreadyExists("chain", wanted)
        return wanted
    while True:  # an import may have kept a number that is ahead of the counter
        (number,) = await tx.numbers(Kind.CHAIN, 1)
        if not await tx.fetch_one("chain_exists", {"id": number}):
            return number


async def _numbered(tx: Tx, spec: ChainSpec, old: ChainSpec | None) -> ChainSpec:
    gates = await _kept(tx, spec.gates, old.gates if old else ())
    steps = await _kept(tx, spec.steps, old.steps if old else ())
    return replace(spec, gates=gates, steps=steps)


async def _kept(tx: Tx, parts: Sequence[Part], old: Sequence[Part]) -> tuple[Part, ...]:
    """One that is as it was keeps its number, then one that runs the same program; the others get new ones."""
    left = list(old)
    kept: dict[int, Part] = {}
    for same in (_is_as_it_was, _runs_the_same):
        for place, part in enumerate(parts):
            found = None if place in kept else next((each for each in left if same(part, each)), None)
            if found:
                left.remove(found)
                kept[place] = replace(part, id=found.id)
    numbers = iter(await tx.numbers(Kind.CHAIN_PART, len(parts) - len(kept)))
    return tuple(kept.get(place) or replace(part, id=next(numbers)) for place, part in enumerate(parts))


def _is_as_it_was(part: Part, old: Part) -> bool:
    return replace(part, id=old.id) == old


def _runs_the_same(part: Part, old: Part) -> bool:
    return (part.env, part.command) == (old.env, old.command)


async def _insert_parts(tx: Tx, chain_id: int, spec: ChainSpec, now: Moment) -> None:
    gates = [gate_row(chain_id, place, gate, now) for place, gate in enumerate(spec.gates)]
    if gates:
        await tx.run_many("insert_chain_gate", gates)
    await tx.run_many(
        "insert_chain_step", [step_row(chain_id, place, each, now) for place, each in enumerate(spec.steps)]
    )


async def _lock(tx: Tx, org_id: int, chain_id: int, allow: Rule) -> tuple[Trigger, Chain]:
    """The trigger first, as everybody does: then nobody fires or changes the chain meanwhile."""
    try:
        trigger = await lock_trigger(tx, org_id=org_id, namespace=NAMESPACE, name=chain_name(chain_id))
    except NotFound:
        raise NotFound("chain", chain_id) from None
    chain = await get_chain(tx, org_id=org_id, chain_id=chain_id)
    allow(chain)
    return trigger, chain


async def _switch_trigger(tx: Tx, trigger: Trigger, *, is_on: bool) -> None:
    key = _Key(org_id=trigger.org_id, namespace=trigger.namespace, name=trigger.name)
    running = trigger.state is TriggerState.RUNNING
    if is_on and not running:
        await start_trigger(tx, **key, allow=_anybody, rules=NO_RULES)
    elif running and not is_on:
        await stop_trigger(tx, **key, allow=_anybody, stop_runs=False)


def _key(chain: Chain) -> _Key:
    return _Key(org_id=chain.org_id, namespace=NAMESPACE, name=chain.name)


def _trigger_spec(name: str, spec: ChainSpec) -> TriggerSpec:
    try:
        schedule = to_json(schedule_of(spec))
    except BadSchedule:
        if spec.switch is Switch.ON:
            raise
        schedule = None
    return TriggerSpec(
        type=TriggerType.SCHEDULED, actions=(), expression=spec.timestr, schedule=schedule, flow_name=name
    )


def _anybody(_: Trigger) -> None:
    """The chain's own rule has been asked."""


def _whatever_runs(_: FlowFacts) -> None:
    """A live run keeps its graph."""


def _nothing_runs(facts: FlowFacts) -> None:
    if facts.live_runs:
        raise NotAllowed(f"chain {facts.flow.name!r} has a live run: stop it or wait for its end first")
