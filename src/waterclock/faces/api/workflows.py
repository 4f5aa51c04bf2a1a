"""Workflows: `/workflows`, `/workflows/{name}` and its runs. They are defined through the Glue face, run here too."""

from typing import Final

from starlette.responses import Response

from waterclock.faces.api import workflow_rendering as rendering
from waterclock.faces.api.call import PAGING, Call, Handler, json, json_page, page_of
from waterclock.faces.api.fields import several, text, texts
from waterclock.services.paging import Page

GLUE: Final = "glue"
MOST_NODES: Final = 1_000


async def list_workflows(call: Call) -> Response:
    """Each with its last run."""
    page = await call.context.flows.list(call.caller, [GLUE], page_of(call.query(PAGING)))
    found = await call.context.flows.get_many(call.caller, GLUE, [flow.name for flow in page.items])
    items = [found[flow.name] for flow in page.items if flow.name in found]
    return json_page(Page(items=items, next_token=page.next_token), rendering.workflow)


async def get_workflow(call: Call) -> Response:
    call.query({})
    return json(
        rendering.workflow_with_graph(await call.context.flows.get(call.caller, GLUE, call.name(), with_graph=True))
    )


async def start_workflow(call: Call) -> Response:
    given = await call.body({"properties": texts()})
    wire_id = await call.context.flows.start(call.caller, GLUE, call.name(), given.get("properties", {}))
    return json({"id": wire_id}, 201)


async def list_runs(call: Call) -> Response:
    page = page_of(call.query(PAGING))
    return json_page(await call.context.flows.runs(call.caller, GLUE, call.name(), page), rendering.run)


async def get_run(call: Call) -> Response:
    call.query({})
    return await _run(call)


async def stop_run(call: Call) -> Response:
    """As it is now; all of it is dead when it is shown as STOPPED."""
    await call.body({})
    await call.context.flows.stop(call.caller, GLUE, call.name(), call.name("id"))
    return await _run(call, 202)


async def resume_run(call: Call) -> Response:
    """`nodes` of the answer are those that were started again at once."""
    given = await call.body({"nodes": several(text(), MOST_NODES, least=1)}, required=("nodes",))
    resumed = await call.context.flows.resume(call.caller, GLUE, call.name(), call.name("id"), given["nodes"])
    return json({"id": resumed.wire_id, "nodes": resumed.nodes}, 201)


async def _run(call: Call, status: int = 200) -> Response:
    found = await call.context.flows.run(call.caller, GLUE, call.name(), call.name("id"), with_graph=True)
    return json(rendering.run_with_graph(found), status)


ROUTES: Final[tuple[tuple[str, str, Handler], ...]] = (
    ("GET", "/workflows", list_workflows),
    ("GET", "/workflows/{name}", get_workflow),
    ("POST", "/workflows/{name}/start", start_workflow),
    ("GET", "/workflows/{name}/runs", list_runs),
    ("GET", "/workflows/{name}/runs/{id}", get_run),
    ("POST", "/workflows/{name}/runs/{id}/stop", stop_run),
    ("POST", "/workflows/{name}/runs/{id}/resume", resume_run),
)
