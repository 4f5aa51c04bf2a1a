"""Flows: defined by authors, run, stopped and resumed by operators, seen with their graphs by everyone."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from waterclock.domain.access import Caller, Right
from waterclock.domain.errors import InvalidInput, NotFound
from waterclock.domain.flow import Flow
from waterclock.domain.rules import Rules
from waterclock.domain.trigger import FireRules
from waterclock.services.paging import Page, PageRequest, page_of, position
from waterclock.stores.base import Database, Tx
from waterclock.stores.ops import flow_runs, flow_showing, flow_starting
from waterclock.stores.ops import flows as ops
from waterclock.stores.ops.flow_showing import ShownFlow, ShownRun
from waterclock.stores.ops.reading import FROM_THE_NEWEST


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowSettings:
    """What a caller decides about a flow; its triggers make its graph."""

    definition: Mapping[str, object]  # as the face was given it
    properties: Mapping[str, str]
    max_concurrent: int  # 0: no cap


@dataclass(frozen=True, slots=True, kw_only=True)
class Resumed:
    wire_id: str
    nodes: Sequence[str]  # those that were started again at once


class Flows:
    def __init__(self, database: Database, rules: Rules, fire_rules: Mapping[str, FireRules]) -> None:
        self._database = database
        self._rules = rules
        self._fire_rules = fire_rules

    async def create(
        self, caller: Caller, namespace: str, name: str, settings: FlowSettings, tags: Mapping[str, str]
    ) -> Flow:
        caller.needs(Right.DEFINE)
        return await self._database.write(
            ops.create_flow,
            org_id=caller.org_id,
            namespace=namespace,
            name=name,
            owner=caller.owner,
            max_concurrent=settings.max_concurrent,
            properties=settings.properties,
            definition=settings.definition,
            tags=tags,
        )

    async def update(self, caller: Caller, namespace: str, name: str, settings: FlowSettings) -> Flow:
        """All of them, for runs that start from now on."""
        caller.needs(Right.DEFINE)
        return await self._database.write(
            ops.update_flow,
            org_id=caller.org_id,
            namespace=namespace,
            name=name,
            max_concurrent=settings.max_concurrent,
            properties=settings.properties,
            definition=settings.definition,
            allow=_owned_by(caller),
        )

    async def delete(self, caller: Caller, namespace: str, name: str) -> Flow:
        """Its triggers and its jobs stay."""
        caller.needs(Right.DEFINE)

        def allow(facts: ops.FlowFacts) -> None:
            _owned_by(caller)(facts)
            self._rules.delete_flow(facts.flow, facts.live_runs)

        return await self._database.write(
            ops.delete_flow, org_id=caller.org_id, namespace=namespace, name=name, allow=allow
        )

    async def get(self, caller: Caller, namespace: str, name: str, *, with_graph: bool = False) -> ShownFlow:
        found = await self.get_many(caller, namespace, [name], with_graph=with_graph)
        if name not in found:
            raise NotFound("workflow", name)
        return found[name]

    async def get_many(
        self, caller: Caller, namespace: str, names: Sequence[str], *, with_graph: bool = False
    ) -> Mapping[str, ShownFlow]:
        """Those that exist, by name, each with its last run."""
        caller.needs(Right.READ)
        return await self._database.read(
            flow_showing.show_flows,
            org_id=caller.org_id,
            namespace=namespace,
            names=names,
            rules=self._fire_rules_of(namespace),
            with_graph=with_graph,
        )

    async def list(self, caller: Caller, namespaces: Sequence[str], page: PageRequest) -> Page[Flow]:
        caller.needs(Right.READ)
        after = position("workflows", page.token, (str, int))
        found = await self._database.read(
            ops.list_flows,
            org_id=caller.org_id,
            namespaces=namespaces,
            after=str(after[0]) if after else "",
            after_id=int(str(after[1])) if after else 0,
            limit=page.size + 1,
        )
        return page_of("workflows", found, page.size, lambda flow: (flow.name, flow.id))

    async def start(
        self,
        caller: Caller,
        namespace: str,
        name: str,
        properties: Mapping[str, str],
        *,
        digest: str | None = None,
    ) -> str:
        """The new run's id, the same for every call with this digest; the properties are laid over the flow's own."""
        caller.needs(Right.RUN)
        return await self._database.write(
            flow_starting.start_flow_run,
            org_id=caller.org_id,
            namespace=namespace,
            name=name,
            requested_by=caller.user,
            properties=properties,
            rules=self._fire_rules_of(namespace),
            digest=digest,
        )

    async def stop(self, caller: Caller, namespace: str, name: str, wire_id: str) -> None:
        """Nothing of it fires once this is acknowledged; the proof that all of it is dead is its state STOPPED."""
        caller.needs(Right.RUN)
        await self._database.write(
            flow_runs.stop_flow_run,
            org_id=caller.org_id,
            namespace=namespace,
            name=name,
            wire_id=wire_id,
            rules=self._fire_rules,
        )

    async def resume(self, caller: Caller, namespace: str, name: str, wire_id: str, nodes: Sequence[str]) -> Resumed:
        """As a new run: these nodes and all that follows from them; the rest keeps what it has done."""
        caller.needs(Right.RUN)
        if not nodes:
            raise InvalidInput("name at least one node to go on from", field="NodeIds")
        return await self._database.write(
            _resume,
            org_id=caller.org_id,
            namespace=namespace,
            name=name,
            wire_id=wire_id,
            requested_by=caller.user,
            nodes=tuple(dict.fromkeys(nodes)),
        )

    async def run(
        self, caller: Caller, namespace: str, name: str, wire_id: str, *, with_graph: bool = False
    ) -> ShownRun:
        caller.needs(Right.READ)
        return await self._database.read(
            flow_showing.show_flow_run,
            org_id=caller.org_id,
            namespace=namespace,
            name=name,
            wire_id=wire_id,
            with_graph=with_graph,
        )

    async def runs(
        self, caller: Caller, namespace: str, name: str, page: PageRequest, *, with_graph: bool = False
    ) -> Page[ShownRun]:
        """Newest first; the flow must exist."""
        caller.needs(Right.READ)
        before = position("runs of workflow", page.token, (int, int))
        found = await self._database.read(
            flow_showing.show_flow_runs,
            org_id=caller.org_id,
            namespace=namespace,
            name=name,
            before=(int(str(before[0])), int(str(before[1]))) if before else FROM_THE_NEWEST,
            limit=page.size + 1,
            with_graph=with_graph,
        )
        return page_of("runs of workflow", found, page.size, lambda shown: (shown.run.run_at, shown.run.id))

    async def properties(self, caller: Caller, namespace: str, name: str, wire_id: str) -> Mapping[str, str]:
        caller.needs(Right.READ)
        run = await self._database.read(
            flow_runs.get_flow_run, org_id=caller.org_id, namespace=namespace, name=name, wire_id=wire_id
        )
        return run.properties

    async def put_properties(
        self, caller: Caller, namespace: str, name: str, wire_id: str, properties: Mapping[str, str]
    ) -> None:
        """Laid over those that the run has; jobs pass word to each other in this way."""
        caller.needs(Right.RUN)
        await self._database.write(
            flow_runs.put_properties,
            org_id=caller.org_id,
            namespace=namespace,
            name=name,
            wire_id=wire_id,
            properties=properties,
        )

    def _fire_rules_of(self, namespace: str) -> FireRules:
        return self._fire_rules.get(namespace, FireRules())


def _owned_by(caller: Caller) -> Callable[[ops.FlowFacts], None]:
    return lambda facts: caller.owns("workflow", facts.flow.name, facts.flow.owner)


async def _resume(
    tx: Tx, *, org_id: int, namespace: str, name: str, wire_id: str, requested_by: str, nodes: Sequence[str]
) -> Resumed:
    new = await flow_starting.resume_flow_run(
        tx, org_id=org_id, namespace=namespace, name=name, wire_id=wire_id, requested_by=requested_by, nodes=nodes
    )
    run = await flow_runs.get_flow_run(tx, org_id=org_id, namespace=namespace, name=name, wire_id=new)
    begun = (await flow_runs.node_states(tx, flow_run_ids=[run.id])).get(run.id, {})
    return Resumed(wire_id=new, nodes=[node for node in nodes if node in begun])
