"""Lake jobs: created, shown, changed, deleted, listed: `/lake/job/create`, `/lake/job/{id}`, `/lake/job/list`."""

from typing import Final

from starlette.responses import Response

from waterclock.domain.lake import LakeDraft, SortField
from waterclock.faces.api.call import Call, Handler, json
from waterclock.faces.lake import rendering
from waterclock.faces.lake.definition import draft_of
from waterclock.faces.lake.fields import as_it_is, body
from waterclock.faces.lake.listing import listed, listing


async def create_job(call: Call) -> Response:
    draft = await _draft(call)
    made = await call.context.lake.create(call.caller, draft)
    call.is_about(str(made.id))
    return json(rendering.job(made))


async def get_job(call: Call) -> Response:
    return json(rendering.job(await call.context.lake.get(call.caller, job_id(call))))


async def update_job(call: Call) -> Response:
    """All of it; refused while a run of it lives. The path says which: the body's job_id is passed over."""
    await call.context.lake.update(call.caller, job_id(call), await _draft(call))
    return json({"success": True})


async def delete_job(call: Call) -> Response:
    await call.context.lake.delete(call.caller, job_id(call))
    return json({"success": True})


async def list_jobs(call: Call) -> Response:
    asked = await listing(call, SortField, {"name": SortField.DISPLAY_NAME})
    found = await call.context.lake.list(
        call.caller, keyword=asked.keyword, offset=asked.offset, limit=asked.limit, sorts=asked.sorts
    )
    return listed(found, rendering.job)


def job_id(call: Call) -> int:
    return call.number("id", "job")


async def _draft(call: Call) -> LakeDraft:
    given = await body(call, {"job": as_it_is}, required=("job",))
    return draft_of(given["job"], timezone=call.context.settings.lake_timezone, now=await call.context.cluster.now())


ROUTES: Final[tuple[tuple[str, str, Handler], ...]] = (
    ("POST", "/job/create", create_job),
    ("POST", "/job/list", list_jobs),
    ("GET", "/job/{id}", get_job),
    ("PUT", "/job/{id}", update_job),
    ("DELETE", "/job/{id}", delete_job),
)
