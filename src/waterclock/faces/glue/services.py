"""What the handlers of the Glue face call, and how a handler looks."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final

from waterclock import clock
from waterclock.domain.access import Caller
from waterclock.domain.moment import Moment
from waterclock.services.bookmarks import Bookmarks
from waterclock.services.crawlers import Crawlers
from waterclock.services.flows import Flows
from waterclock.services.jobs import Jobs
from waterclock.services.logs import Logs
from waterclock.services.paging import PageRequest
from waterclock.services.runs import Runs
from waterclock.services.tags import Tags
from waterclock.services.triggers import Triggers

NAMESPACE: Final = "glue"

Body = dict[str, Any]
Wire = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    jobs: Jobs
    triggers: Triggers
    runs: Runs
    flows: Flows
    logs: Logs
    bookmarks: Bookmarks
    tags: Tags
    crawlers: Crawlers
    now: Callable[[], Moment] = clock.wall_us  # for what is only shown; what is decided uses the store's clock


Handler = Callable[[Services, Caller, Body], Awaitable[Wire]]


def page_of(body: Body, *, size: int) -> PageRequest:
    return PageRequest(size=body.get("MaxResults", size), token=body.get("NextToken"))


def paged(name: str, items: list[Any], next_token: str | None) -> Wire:
    """The last page has no NextToken."""
    return {name: items, **({"NextToken": next_token} if next_token else {})}
