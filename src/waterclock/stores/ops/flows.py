"""Flows: defined, redefined and deleted, each change under its rule and its lock."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from waterclock.domain.errors import AlreadyExists, NotFound
from waterclock.domain.flow import Flow, Graph
from waterclock.domain.quota import QuotaKind
from waterclock.domain.role import Role, roles_text
from waterclock.domain.trigger import Trigger
from waterclock.stores.base import Kind, Tx
from waterclock.stores.ops.flow_rows import flow_of, graph_text
from waterclock.stores.ops.quotas import keep_owners_quota
from waterclock.stores.ops.rows import dumped
from waterclock.stores.ops.trigger_reading import with_parts


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowFacts:
    """What the rules of change ask about a flow, read under its lock."""

    flow: Flow
    live_runs: int


Rule = Callable[[FlowFacts], None]


async def create_flow(
    tx: Tx,
    *,
    org_id: int,
    namespace: str,
    name: str,
    owner: str,
    max_concurrent: int,
    properties: Mapping[str, str],
    definition: Mapping[str, object],
    tags: Mapping[str, str],
    graph: Graph | None = None,
    roles: Sequence[Role] = (),
) -> Flow:
    key = {"org_id": org_id, "namespace": namespace, "name": name}
    if await tx.fetch_one("flow_by_name", key):
        raise AlreadyExists("workflow", name)
    await keep_owners_quota(tx, org_id=org_id, namespace=namespace, owner=owner, kind=QuotaKind.WORKFLOWS)
    now = await tx.now()
    (flow_id,) = await tx.numbers(Kind.FLOW, 1)
    row = {
        **key,
        **_definition_row(max_concurrent, properties, definition, graph, roles),
        "id": flow_id,
        "owner": owner,
        "tags": dumped(tags),
        "version": 1,
        "created_at": now,
        "updated_at": now,
    }
    await tx.run("insert_flow", row)
    return flow_of(row)


async def update_flow(
    tx: Tx,
    *,
    org_id: int,
    namespace: str,
    name: str,
    max_concurrent: int,
    properties: Mapping[str, str],
    definition: Mapping[str, object],
    allow: Rule,
    graph: Graph | None = None,
    roles: Sequence[Role] = (),
) -> Flow:
    """For runs that start from now on; those under way keep what they began with."""
    facts = await _lock(tx, org_id, namespace, name)
    allow(facts)
    values = _definition_row(max_concurrent, properties, definition, graph, roles)
    was = {"id": facts.flow.id, "was": facts.flow.version, "updated_at": await tx.now()}
    await tx.run("update_flow", {**values, **was})
    return (await get_flows(tx, org_id=org_id, namespace=namespace, names=[name]))[name]


async def delete_flow(tx: Tx, *, org_id: int, namespace: str, name: str, allow: Rule) -> Flow:
    """Its triggers stay; a start trigger that fires without its flow leaves a SKIPPED row."""
    facts = await _lock(tx, org_id, namespace, name)
    allow(facts)
    await tx.run("delete_flow", {"id": facts.flow.id})
    return facts.flow


async def get_flows(tx: Tx, *, org_id: int, namespace: str, names: Sequence[str]) -> dict[str, Flow]:
    rows = await tx.fetch("flows_by_names", {"org_id": org_id, "namespace": namespace, "names": list(names)})
    return {row["name"]: flow_of(row) for row in rows}


async def list_flows(
    tx: Tx, *, org_id: int, namespaces: Sequence[str], after: str, limit: int, after_id: int = 0
) -> list[Flow]:
    values = {"org_id": org_id, "namespaces": list(namespaces), "after": after, "after_id": after_id, "limit": limit}
    return [flow_of(row) for row in await tx.fetch("flows_of_org", values)]


async def triggers_of_flow(tx: Tx, *, org_id: int, namespace: str, flow_name: str) -> list[Trigger]:
    rows = await tx.fetch("triggers_of_flow", {"org_id": org_id, "namespace": namespace, "flow_name": flow_name})
    return await with_parts(tx, rows)


async def _lock(tx: Tx, org_id: int, namespace: str, name: str) -> FlowFacts:
    row = await tx.fetch_one("lock_flow", {"org_id": org_id, "namespace": namespace, "name": name})
    if row is None:
        raise NotFound("workflow", name)
    live = await tx.fetch_one("count_live_flow_runs", {"flow_ids": [row["id"]]})
    return FlowFacts(flow=flow_of(row), live_runs=live["live"] if live else 0)


def _definition_row(
    max_concurrent: int,
    properties: Mapping[str, str],
    definition: Mapping[str, object],
    graph: Graph | None,
    roles: Sequence[Role],
) -> dict[str, object]:
    return {
        "max_concurrent": max_concurrent,
        "properties": dumped(properties),
        "definition": dumped(definition),
        "graph": graph_text(graph) if graph else None,
        "roles": roles_text(roles),
    }
