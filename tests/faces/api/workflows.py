"""A workflow for tests of the API and the command line: a; then b when it went well, c when it failed."""

from tests.faces.api.serving import Served
from waterclock.domain.access import Caller, Role
from waterclock.domain.job import JobSpec
from waterclock.domain.trigger import Action, Condition, Logical, Predicate, Target, TriggerSpec, TriggerType
from waterclock.services.flows import FlowSettings

GLUE = "glue"
ADMIN = Caller(user="admin", org_id=1, account="", role=Role.ADMIN, address="", request_id="")


async def make_workflow(server: Served, name: str = "flow", *, cap: int = 0) -> None:
    settings = FlowSettings(definition={"Description": "a test"}, properties={"day": "today"}, max_concurrent=cap)
    await server.context.flows.create(ADMIN, GLUE, name, settings, {})
    for job in "abc":
        await server.context.jobs.create(ADMIN, GLUE, f"{name}-{job}", JobSpec(kind="python", script="x"), {}, {})
    await _trigger(server, name, "start", "a")
    await _trigger(server, name, "then", "b", after="SUCCEEDED")
    await _trigger(server, name, "alarm", "c", after="FAILED")


async def _trigger(server: Served, flow: str, name: str, job: str, *, after: str | None = None) -> None:
    awaited = Condition(target=Target.JOB, name=f"{flow}-a", state=after or "")
    spec = TriggerSpec(
        type=TriggerType.CONDITIONAL if after else TriggerType.ON_DEMAND,
        actions=(Action(target=Target.JOB, name=f"{flow}-{job}"),),
        flow_name=flow,
        predicate=Predicate(logical=Logical.AND, conditions=(awaited,)) if after else None,
    )
    create = server.context.triggers.create
    await create(ADMIN, GLUE, f"{flow}-{name}", spec, {}, {}, start=after is not None)
