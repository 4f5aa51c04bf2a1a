"""Workflow actions: parse, call one service, render. A workflow is a flow whose graph its triggers make."""

from contextlib import suppress
from dataclasses import replace
from typing import Final

from waterclock.domain.access import Caller
from waterclock.domain.errors import InvalidInput, NotFound
from waterclock.domain.flow import NO_CAP
from waterclock.faces.glue.repeats import digest_of
from waterclock.faces.glue.services import NAMESPACE, Body, Handler, Services, Wire, page_of, paged
from waterclock.faces.glue.workflow_wire import workflow_run_wire, workflow_wire
from waterclock.services.flows import FlowSettings

PAGE: Final = 25
RUNS_PAGE: Final = 100
# All that is shown again. An update overwrites them all, as AWS does: what it leaves out is gone.
SETTINGS: Final = ("Description", "DefaultRunProperties", "MaxConcurrentRuns")


async def create_workflow(services: Services, caller: Caller, body: Body) -> Wire:
    await services.flows.create(caller, NAMESPACE, body["Name"], _settings(body), body.get("Tags", {}))
    return {"Name": body["Name"]}


async def update_workflow(services: Services, caller: Caller, body: Body) -> Wire:
    return {"Name": (await services.flows.update(caller, NAMESPACE, body["Name"], _settings(body))).name}


async def delete_workflow(services: Services, caller: Caller, body: Body) -> Wire:
    """A workflow that is not there is gone already: no error."""
    with suppress(NotFound):
        await services.flows.delete(caller, NAMESPACE, body["Name"])
    return {"Name": body["Name"]}


async def get_workflow(services: Services, caller: Caller, body: Body) -> Wire:
    found = await services.flows.get(caller, NAMESPACE, body["Name"], with_graph=_with_graph(body))
    return {"Workflow": workflow_wire(found, now=services.now())}


async def list_workflows(services: Services, caller: Caller, body: Body) -> Wire:
    page = await services.flows.list(caller, [NAMESPACE], page_of(body, size=PAGE))
    return paged("Workflows", [flow.name for flow in page.items], page.next_token)


async def batch_get_workflows(services: Services, caller: Caller, body: Body) -> Wire:
    names, now = list(dict.fromkeys(body["Names"])), services.now()
    found = await services.flows.get_many(caller, NAMESPACE, names, with_graph=_with_graph(body))
    return {
        "Workflows": [workflow_wire(found[name], now=now) for name in names if name in found],
        "MissingWorkflows": [name for name in names if name not in found],
    }


async def start_workflow_run(services: Services, caller: Caller, body: Body) -> Wire:
    properties, digest = body.get("RunProperties", {}), digest_of("StartWorkflowRun", caller, body)
    return {"RunId": await services.flows.start(caller, NAMESPACE, body["Name"], properties, digest=digest)}


async def stop_workflow_run(services: Services, caller: Caller, body: Body) -> Wire:
    await services.flows.stop(caller, NAMESPACE, body["Name"], body["RunId"])
    return {}


async def resume_workflow_run(services: Services, caller: Caller, body: Body) -> Wire:
    resumed = await services.flows.resume(caller, NAMESPACE, body["Name"], body["RunId"], body["NodeIds"])
    return {"RunId": resumed.wire_id, "NodeIds": list(resumed.nodes)}


async def get_workflow_run(services: Services, caller: Caller, body: Body) -> Wire:
    graph = _with_graph(body)
    found = await services.flows.run(caller, NAMESPACE, body["Name"], body["RunId"], with_graph=graph)
    return {"Run": workflow_run_wire(found, with_graph=graph, now=services.now())}


async def get_workflow_runs(services: Services, caller: Caller, body: Body) -> Wire:
    """With graphs a page is short, whatever was asked for: a thousand of them would keep everybody else waiting."""
    graph, now, page = _with_graph(body), services.now(), page_of(body, size=RUNS_PAGE)
    if graph:
        page = replace(page, size=min(page.size, RUNS_PAGE))
    found = await services.flows.runs(caller, NAMESPACE, body["Name"], page, with_graph=graph)
    return paged("Runs", [workflow_run_wire(run, with_graph=graph, now=now) for run in found.items], found.next_token)


async def get_workflow_run_properties(services: Services, caller: Caller, body: Body) -> Wire:
    return {"RunProperties": await services.flows.properties(caller, NAMESPACE, body["Name"], body["RunId"])}


async def put_workflow_run_properties(services: Services, caller: Caller, body: Body) -> Wire:
    await services.flows.put_properties(caller, NAMESPACE, body["Name"], body["RunId"], body["RunProperties"])
    return {}


def _settings(body: Body) -> FlowSettings:
    cap = body.get("MaxConcurrentRuns", NO_CAP)
    if "MaxConcurrentRuns" in body and cap < 1:
        raise InvalidInput("must be at least 1; left out there is no cap", field="MaxConcurrentRuns", value=cap)
    return FlowSettings(
        definition={name: body[name] for name in SETTINGS if name in body},
        properties=body.get("DefaultRunProperties", {}),
        max_concurrent=cap,
    )


def _with_graph(body: Body) -> bool:
    return bool(body.get("IncludeGraph", False))


ACTIONS: Final[dict[str, Handler]] = {
    "CreateWorkflow": create_workflow,
    "UpdateWorkflow": update_workflow,
    "DeleteWorkflow": delete_workflow,
    "GetWorkflow": get_workflow,
    "ListWorkflows": list_workflows,
    "BatchGetWorkflows": batch_get_workflows,
    "StartWorkflowRun": start_workflow_run,
    "StopWorkflowRun": stop_workflow_run,
    "ResumeWorkflowRun": resume_workflow_run,
    "GetWorkflowRun": get_workflow_run,
    "GetWorkflowRuns": get_workflow_runs,
    "GetWorkflowRunProperties": get_workflow_run_properties,
    "PutWorkflowRunProperties": put_workflow_run_properties,
}
