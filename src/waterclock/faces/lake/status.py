"""How a lake job stands: `/lake/job/{id}/status`."""

from typing import Final

from starlette.responses import Response

from waterclock.faces.api.call import Call, Handler, json
from waterclock.faces.lake import rendering
from waterclock.faces.lake.jobs import job_id


async def get_status(call: Call) -> Response:
    """With what its newest run has said of itself so far."""
    return json(rendering.status(await call.context.lake.status(call.caller, job_id(call))))


ROUTES: Final[tuple[tuple[str, str, Handler], ...]] = (("GET", "/job/{id}/status", get_status),)
