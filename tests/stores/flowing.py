"""Short words for what the tests do to flows and conditional triggers."""

from collections.abc import Collection, Mapping
from typing import Any

from tests.stores.world import PLACE, World
from waterclock.domain.flow import Flow, FlowRun
from waterclock.domain.run import Attempt, RunState
from waterclock.domain.trigger import (
    Action,
    Condition,
    FireRules,
    Logical,
    Predicate,
    Target,
    Trigger,
    TriggerSpec,
    TriggerType,
)
from waterclock.stores.ops import flow_runs, flow_starting, flows, triggers
from waterclock.stores.ops.reading import FROM_THE_NEWEST

AT_ONCE = FireRules(sequential=False)


class Flowing(World):
    async def flow(self, name: str = "flow", *, cap: int = 0, properties: Mapping[str, str] | None = None) -> Flow:
        parts: dict[str, Any] = {"properties": properties or {}, "definition": {}, "tags": {}}
        return await self.database.write(
            flows.create_flow, **PLACE, name=name, owner="ann", max_concurrent=cap, **parts
        )

    async def begins(self, *actions: str, flow: str | None = "flow", name: str = "start", **more: Any) -> Trigger:
        """A flow's start trigger."""
        return await self._put(name, TriggerType.ON_DEMAND, actions, flow=flow, **more)

    async def then(
        self,
        name: str,
        *actions: str,
        on: Mapping[str, str],
        logical: Logical = Logical.AND,
        flow: str | None = "flow",
        start: bool = True,
    ) -> Trigger:
        conditions = tuple(Condition(target=Target.JOB, name=job, state=state) for job, state in on.items())
        predicate = Predicate(logical=logical, conditions=conditions)
        return await self._put(name, TriggerType.CONDITIONAL, actions, flow=flow, predicate=predicate, start=start)

    async def _put(
        self,
        name: str,
        kind: TriggerType,
        actions: Collection[str],
        *,
        flow: str | None,
        predicate: Predicate | None = None,
        start: bool = False,
        schedule: Mapping[str, object] | None = None,
    ) -> Trigger:
        spec = TriggerSpec(
            type=TriggerType.SCHEDULED if schedule else kind,
            actions=tuple(Action(target=Target.JOB, name=action) for action in actions),
            schedule=schedule,
            flow_name=flow,
            predicate=predicate,
        )
        return await self.database.write(
            triggers.create_trigger, **PLACE, name=name, owner="ann", spec=spec, definition={}, tags={}, start=start
        )

    async def start_trigger(self, name: str = "start", rules: FireRules = AT_ONCE) -> None:
        await self.database.write(
            triggers.start_trigger, **PLACE, name=name, allow=lambda _: None, rules={"glue": rules}
        )

    async def start_flow(self, name: str = "flow", *, rules: FireRules = AT_ONCE, **properties: str) -> str:
        return await self.database.write(
            flow_starting.start_flow_run, **PLACE, name=name, requested_by="bob", properties=properties, rules=rules
        )

    async def resume(self, wire_id: str, *nodes: str) -> str:
        return await self.database.write(
            flow_starting.resume_flow_run, **PLACE, name="flow", wire_id=wire_id, requested_by="bob", nodes=nodes
        )

    async def stop_flow(self, wire_id: str) -> None:
        await self.database.write(flow_runs.stop_flow_run, **PLACE, name="flow", wire_id=wire_id, rules={})

    async def flow_run(self, wire_id: str, name: str = "flow") -> FlowRun:
        return await self.database.read(flow_runs.get_flow_run, **PLACE, name=name, wire_id=wire_id)

    async def flow_runs(self, flow: Flow) -> list[FlowRun]:
        page: dict[str, Any] = {"before": FROM_THE_NEWEST, "limit": 1_000}
        return await self.database.read(flow_runs.list_flow_runs, flow_id=flow.id, **page)

    async def nodes(self, wire_id: str) -> dict[str, RunState]:
        """By the name of their job."""
        run = await self.flow_run(wire_id)
        states = (await self.database.read(flow_runs.node_states, flow_run_ids=[run.id])).get(run.id, {})
        return {node.action.name: states[node.id] for node in run.graph.nodes if node.id in states}

    async def node_id(self, wire_id: str, job: str) -> str:
        return next(node.id for node in (await self.flow_run(wire_id)).graph.nodes if node.action.name == job)

    async def finish(self, state: RunState = RunState.SUCCEEDED, **others: RunState) -> list[str]:
        """Run all that can be claimed now, each to `state` or to its own; the names of their jobs."""
        claimed = [each.attempt for each in await self.claim()]
        await self.begin(*claimed)
        for attempt in claimed:
            await self.end(attempt, state=others.get(attempt.job_name, state))
        return sorted(attempt.job_name for attempt in claimed)

    async def finish_all(self) -> list[list[str]]:
        """Round after round, until nothing is left."""
        rounds = []
        while names := await self.finish():
            rounds.append(names)
        return rounds

    async def of_job(self, name: str) -> list[Attempt]:
        return [attempt for attempt in await self.attempts() if attempt.job_name == name]
