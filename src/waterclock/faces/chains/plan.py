"""What would run, and what each part waits for: `/chains/{id}/plan`, and `/chains/plan` for one that is not stored."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from starlette.responses import Response

from waterclock.domain.chain import ChainSpec, schedule_of
from waterclock.domain.chain_graph import COMMAND, ENV
from waterclock.domain.flow import Graph, Node, Stage
from waterclock.domain.moment import from_datetime, to_datetime, to_iso
from waterclock.faces.api.call import Call, Handler, json
from waterclock.faces.chains.definition import FIELDS, REQUIRED, spec_of
from waterclock.faces.chains.numbers import chain_id
from waterclock.services.triggers import upcoming

PREVIEWED: Final = 5


async def plan_chain(call: Call) -> Response:
    call.query({})
    chain = (await call.context.chains.get(call.caller, chain_id(call))).chain
    graph = call.context.chains.plan(call.caller, chain.spec, chain.id)
    fires = [] if chain.problem else await _next_fires(call, chain.spec)
    return json(_rendered(graph, chain.spec, fires))


async def plan_unstored(call: Call) -> Response:
    """Its parts are numbered from 1, since nothing has given them numbers yet."""
    given = await call.body(FIELDS, required=REQUIRED)
    spec = _numbered(spec_of(given, timezone=call.context.settings.chains_timezone))
    graph = call.context.chains.plan(call.caller, spec)
    return json(_rendered(graph, spec, await _next_fires(call, spec)))


async def _next_fires(call: Call, spec: ChainSpec) -> Sequence[datetime]:
    """As the timestr says, whatever the switch does."""
    return upcoming(schedule_of(spec), to_datetime(await call.context.cluster.now()), PREVIEWED)


def _numbered(spec: ChainSpec) -> ChainSpec:
    return replace(
        spec,
        gates=tuple(replace(gate, id=number) for number, gate in enumerate(spec.gates, start=1)),
        steps=tuple(replace(step, id=number) for number, step in enumerate(spec.steps, start=1)),
    )


def _rendered(graph: Graph, spec: ChainSpec, fires: Sequence[datetime]) -> dict[str, object]:
    return {
        "stages": [_stage(stage) for stage in graph.stages],
        "next_fires": [to_iso(from_datetime(each)) for each in fires],
        "roles": spec.roles,
    }


def _stage(stage: Stage) -> dict[str, object]:
    return {
        "name": stage.name,
        "needs": [node for need in stage.needs for node in need.nodes],
        "nodes": [_node(node) for node in stage.nodes],
    }


def _node(node: Node) -> dict[str, object]:
    shown: dict[str, object] = {
        "node": node.id,
        "kind": "gate" if node.probing else "step",
        "title": node.title,
        "env": node.action.arguments.get(ENV),
        "command": node.action.arguments.get(COMMAND),
        "timeout_seconds": node.action.timeout_seconds,
    }
    if node.probing is None:
        return shown
    return {
        **shown,
        "every_seconds": node.probing.every_seconds,
        "for_seconds": node.probing.for_seconds,
        "tolerates": node.probing.tolerates,
    }


ROUTES: Final[tuple[tuple[str, str, Handler], ...]] = (
    ("POST", "/plan", plan_unstored),
    ("GET", "/{id}/plan", plan_chain),
)
