"""CloudWatch Logs, as far as clients read what a run wrote: the group that GetJobRun names, the run's id as the stream.

Standard output and standard error share one log: all of it is under `/output`, and `/error` is empty, so that a client
that shows both shows nothing twice. Secrets stay masked.
"""

import re
from collections.abc import Sequence
from typing import Final

from waterclock.domain.access import Caller
from waterclock.domain.errors import Forbidden, InvalidInput, NotFound, Unauthenticated, Unavailable
from waterclock.domain.run import Attempt, attempt_wire_id
from waterclock.faces.glue.around.filter_pattern import matcher
from waterclock.faces.glue.around.log_events import (
    BACKWARD,
    FORWARD,
    Window,
    event,
    place,
    place_token,
    places,
    places_token,
)
from waterclock.faces.glue.around.log_search import Search
from waterclock.faces.glue.aws_service import JsonService
from waterclock.faces.glue.errors import Table
from waterclock.faces.glue.render import LOG_GROUPS, OTHER_LOG_GROUP, log_group
from waterclock.faces.glue.service_model import ServiceModel
from waterclock.faces.glue.services import NAMESPACE, Body, Handler, Services, Wire
from waterclock.services.logs import LogLines

MOST_EVENTS: Final = 10_000
FOREVER: Final = 2**63
OUTPUT: Final = "/output"
GROUPS: Final = frozenset(
    group + suffix for group in (*LOG_GROUPS.values(), OTHER_LOG_GROUP) for suffix in (OUTPUT, "/error")
)
TABLE: Final[Table] = (
    (InvalidInput, "InvalidParameterException", 400),
    (NotFound, "ResourceNotFoundException", 400),
    (Forbidden, "AccessDeniedException", 400),
    (Unauthenticated, "UnrecognizedClientException", 403),
    (Unavailable, "ServiceUnavailableException", 503),
)

_GROUP_ARN: Final = re.compile(r"arn:[^:]+:logs:[^:]*:([^:]*):log-group:([^:]+)(?::\*)?")


async def get_log_events(services: Services, caller: Caller, body: Body) -> Wire:
    """From the first event, from the last, or on from a token; the same token again where there is no more."""
    group, stream = _group(caller, body), body["logStreamName"]
    attempt = await _attempt(services, caller, group, stream)
    direction, offset = FORWARD if body.get("startFromHead") else BACKWARD, None
    if "nextToken" in body:
        direction, offset = place(body["nextToken"], stream)
    most = body.get("limit", MOST_EVENTS)
    found = await _lines(services, group, attempt, offset=offset, most=most, backwards=direction == BACKWARD)
    window = Window(start=body.get("startTime", 0), end=body.get("endTime", FOREVER) - 1)
    events = [event(attempt, line) for line in found.lines]
    return {
        "events": [each for each in events if window.holds(each)],
        "nextForwardToken": place_token(FORWARD, found.end, stream),
        "nextBackwardToken": place_token(BACKWARD, found.start, stream),
    }


async def filter_log_events(services: Services, caller: Caller, body: Body) -> Wire:
    """One stream after the other. There is a token as long as there was something to read: a poll goes on from it."""
    group = _group(caller, body)
    search = Search(
        places(body.get("nextToken"), group),
        window=Window(start=body.get("startTime", 0), end=body.get("endTime", FOREVER)),
        matches=matcher(body.get("filterPattern", "")),
        limit=body.get("limit", MOST_EVENTS),
    )
    attempts = await _streams(services, caller, group, body)
    for attempt in attempts:
        if not search.is_full:
            search.take(attempt, await _lines(services, group, attempt, offset=search.place(attempt), most=MOST_EVENTS))
    return {
        "events": search.events,
        "searchedLogStreams": [
            {"logStreamName": attempt.wire_id, "searchedCompletely": not search.went_on} for attempt in attempts
        ],
        **({"nextToken": places_token(group, search.places)} if search.went_on else {}),
    }


def _group(caller: Caller, body: Body) -> str:
    name, identifier = body.get("logGroupName"), body.get("logGroupIdentifier")
    if (name is None) == (identifier is None):
        raise InvalidInput("give either logGroupName or logGroupIdentifier", field="logGroupName")
    arn = _GROUP_ARN.fullmatch(identifier) if identifier else None
    group = arn[2] if arn and arn[1] == caller.account else name or identifier
    if group not in GROUPS:
        raise NotFound("log group", group)
    return str(group)


async def _streams(services: Services, caller: Caller, group: str, body: Body) -> Sequence[Attempt]:
    """In the order in which they were made."""
    names, prefix = body.get("logStreamNames"), body.get("logStreamNamePrefix")
    if (names is None) == (prefix is None):
        either = "give either logStreamNames, or the id of a run as logStreamNamePrefix: a group is not searched whole"
        raise InvalidInput(either, field="logStreamNames")
    if names is None:
        return await _attempts_of_run(services, caller, group, str(prefix))
    found = [await _attempt(services, caller, group, name) for name in dict.fromkeys(names)]
    return sorted(found, key=lambda attempt: (attempt.run_at, attempt.run_id, attempt.number))


async def _attempts_of_run(services: Services, caller: Caller, group: str, prefix: str) -> Sequence[Attempt]:
    """A run's id begins the ids of its retries; what begins the id of no run begins no stream."""
    try:
        first = await _attempt(services, caller, group, prefix)
    except NotFound:
        return []
    retries = range(1, first.attempts) if first.number == 0 else ()
    return [first, *[await _attempt(services, caller, group, attempt_wire_id(prefix, n)) for n in retries]]


async def _attempt(services: Services, caller: Caller, group: str, stream: str) -> Attempt:
    try:
        attempt = await services.runs.get(caller, stream, namespace=NAMESPACE)
    except NotFound:
        raise NotFound("log stream", stream) from None
    if group.rpartition("/")[0] != log_group(attempt.kind):
        raise NotFound("log stream", stream)
    return attempt


async def _lines(
    services: Services, group: str, attempt: Attempt, *, offset: int | None, most: int, backwards: bool = False
) -> LogLines:
    if not group.endswith(OUTPUT):
        return LogLines(lines=(), start=0, end=0)
    return await services.logs.lines(attempt, offset=offset, most=most, backwards=backwards)


ACTIONS: Final[dict[str, Handler]] = {"GetLogEvents": get_log_events, "FilterLogEvents": filter_log_events}
LOGS: Final = JsonService(
    name="logs",
    prefix="Logs_20140328",
    model=ServiceModel("logs", tuple(ACTIONS)),
    handlers=ACTIONS,
    refusals=TABLE,
    internal="InternalFailure",
    told_as="message",
)
