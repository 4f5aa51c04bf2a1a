"""The routes of the API, all of them in one table."""

from typing import Final

from starlette.routing import BaseRoute

from waterclock.faces.api import (
    access,
    audit,
    bookmarks,
    channels,
    cluster,
    groups,
    jobs,
    logs,
    messages,
    quotas,
    runs,
    schedules,
    secrets,
    triggers,
    work,
    workflows,
)
from waterclock.faces.api.context import Context
from waterclock.faces.api.routing import Face, routes_of

PREFIX: Final = "/api/v1"
FACE: Final = Face(name="api", prefix=PREFIX)


def api_routes(context: Context) -> list[BaseRoute]:
    """For the top of an app: their paths begin with /api/v1."""
    return routes_of(FACE, TABLE, context)


TABLE: Final = (
    *jobs.ROUTES,
    *bookmarks.ROUTES,
    *secrets.ROUTES,
    *triggers.ROUTES,
    *workflows.ROUTES,
    *runs.ROUTES,
    *logs.ROUTES,
    *access.ROUTES,
    *groups.ROUTES,
    *quotas.ROUTES,
    *audit.ROUTES,
    *cluster.ROUTES,
    *messages.ROUTES,
    *channels.ROUTES,
    *schedules.ROUTES,
    *work.ROUTES,
)
