"""The routes of the chains face, all of them in one table; what has a name of its own stands before `{id}`."""

from typing import Final

from starlette.routing import BaseRoute

from waterclock.faces.api import messages
from waterclock.faces.api.context import Context
from waterclock.faces.api.routing import Face, routes_of
from waterclock.faces.chains import chains, plan, runs

FACE: Final = Face(name="chains", prefix="/chains", fields={"schedule": "timestr"})


def chain_routes(context: Context) -> list[BaseRoute]:
    """For the top of an app: their paths begin with /chains."""
    return routes_of(FACE, TABLE, context)


TABLE: Final = (
    *messages.ROUTES,
    *plan.ROUTES,
    *runs.ROUTES,
    *chains.ROUTES,
)
