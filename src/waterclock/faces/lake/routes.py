"""The routes of the lake face, all of them in one table; what has a name of its own stands before `{id}`."""

from typing import Final

from starlette.routing import BaseRoute

from waterclock.faces.api.context import Context
from waterclock.faces.api.routing import ApiRoute, Face, routes_of
from waterclock.faces.lake import history, jobs, many, openapi, schedule, sources, status, tables, work
from waterclock.faces.lake.errors import WORDING

# What the layers below find wrong with a job is where the caller has sent it.
FIELDS: Final = {name: f"job.{name}" for name in ("class_name", "display_name", "job_type", "source")}
FACE: Final = Face(name="lake", prefix="/lake", fields=FIELDS, wording=WORDING)


def lake_routes(context: Context) -> list[BaseRoute]:
    """For the top of an app: their paths begin with /lake, but for the document that describes them."""
    document = ApiRoute(FACE, context, openapi.PATH, {"GET": openapi.show_document})
    return [*routes_of(FACE, TABLE, context), document]


TABLE: Final = (
    *many.ROUTES,
    *jobs.ROUTES,
    *status.ROUTES,
    *history.ROUTES,
    *work.ROUTES,
    *schedule.ROUTES,
    *tables.ROUTES,
    *sources.ROUTES,
)
