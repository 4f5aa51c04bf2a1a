"""Runs of chains: started now, listed, shown with all their evidence, stopped: `/chains/runs/{run_id}`."""

from typing import Final

from starlette.responses import Response

from waterclock.faces.api.call import PAGING, Call, Handler, json, json_page, page_of
from waterclock.faces.api.fields import integer, written
from waterclock.faces.chains.numbers import chain_id, run_id
from waterclock.faces.chains.run_rendering import run, whole_run

MOST_PROBES: Final = 1_000_000


async def start_run(call: Call) -> Response:
    """Whatever the switch says; refused while the last run lives."""
    await call.body({})
    return json({"run_id": await call.context.chains.start(call.caller, chain_id(call))}, 201)


async def list_runs(call: Call) -> Response:
    """Newest first."""
    page, number = page_of(call.query(PAGING)), chain_id(call)
    found = await call.context.chains.runs(call.caller, number, page)
    chain = (await call.context.chains.get(call.caller, number)).chain
    return json_page(found, lambda each: run(each, chain))


async def get_run(call: Call) -> Response:
    """`probes`: only the last so many of each gate."""
    query = call.query({"probes": written(integer(1, MOST_PROBES))})
    return json(whole_run(await call.context.chains.run(call.caller, run_id(call), probes=query.get("probes"))))


async def stop_run(call: Call) -> Response:
    """As it is now; all of it is dead when it is shown as KILLED."""
    await call.body({})
    await call.context.chains.stop(call.caller, run_id(call))
    found = await call.context.chains.run(call.caller, run_id(call))
    return json(run(found.run, found.chain), 202)


ROUTES: Final[tuple[tuple[str, str, Handler], ...]] = (
    ("GET", "/runs/{run_id}", get_run),
    ("POST", "/runs/{run_id}/stop", stop_run),
    ("GET", "/{id}/runs", list_runs),
    ("POST", "/{id}/run", start_run),
)
