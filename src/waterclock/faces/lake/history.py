"""What has run, newest first unless it is sorted otherwise: `/lake/history/list`."""

from typing import Final

from starlette.responses import Response

from waterclock.domain.lake import RunSortField
from waterclock.faces.api.call import MOST_DIGITS, Call, Handler
from waterclock.faces.lake import rendering
from waterclock.faces.lake.fields import whole
from waterclock.faces.lake.listing import listed, listing


async def list_history(call: Call) -> Response:
    """Of all jobs, also of those that are gone; of one with `job_id`."""
    asked = await listing(call, RunSortField, {}, {"job_id": whole(0, 10**MOST_DIGITS - 1)})
    found = await call.context.lake.history(
        call.caller,
        keyword=asked.keyword,
        job_id=asked.given.get("job_id"),
        offset=asked.offset,
        limit=asked.limit,
        sorts=asked.sorts,
    )
    return listed(found, rendering.run)


ROUTES: Final[tuple[tuple[str, str, Handler], ...]] = (("POST", "/history/list", list_history),)
