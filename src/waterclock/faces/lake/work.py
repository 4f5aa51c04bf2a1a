"""Workers of others: `/lake/schedule/job/next`, `…/report` and `…/progress`, with the token of a user who is a worker.

What `next` offers is taken with the first report of it, and offered again until then: who reports before it starts
anything starts nothing twice. A report is due before a lease is over (`lease.seconds`, 60 as delivered); without one
the run is lost, and ends in Error.
"""

from contextlib import suppress
from typing import Any, Final

from starlette.responses import Response

from waterclock.domain.lake_work import WORDS, Told
from waterclock.faces.api.call import MOST_DIGITS, Call, Handler, json
from waterclock.faces.api.fields import Fields, number, text
from waterclock.faces.http.marks import mark_routine
from waterclock.faces.lake import rendering
from waterclock.faces.lake.fields import among, body, millisecond, whole
from waterclock.faces.lake.listing import listed
from waterclock.services.lake_work import LONGEST_WAIT_SECONDS

USUAL_WAIT_SECONDS: Final = 20.0
LONGEST_MESSAGE: Final = 65_536
MOST_ATTEMPTS: Final = 1_000

NUMBER: Final = whole(0, 10**MOST_DIGITS - 1)
REPORT: Final[Fields] = {
    "run_id": NUMBER,
    "job_id": NUMBER,
    "attempt": whole(0, MOST_ATTEMPTS),
    "job_status": among(WORDS),
    "message": text(LONGEST_MESSAGE, least=0),
    "total_sync_record": NUMBER,
    "total_execution_time": NUMBER,
    "updated_time": millisecond,
}
# What a report counts, and what the run's progress calls it.
COUNTED: Final = {"total_sync_record": "rows_written", "total_execution_time": "execution_ms"}


async def next_job(call: Call) -> Response:
    """Answered when there is one, at the latest after `wait` seconds."""
    query = call.query({"wait": _seconds})
    found = await call.context.lake_work.next(
        call.caller,
        seconds=query.get("wait", USUAL_WAIT_SECONDS),
        stopping=call.context.stopping,
        is_gone=call.request.is_disconnected,
    )
    mark_routine(call.request.scope)
    if found is None:
        return json({"has_job": False, "data": None})
    data: dict[str, object] = {"run_id": found.attempt.run_id, **rendering.job(found.job)}
    if found.attempt.arguments:
        data["arguments"] = found.attempt.arguments
    return json({"has_job": True, "data": {**data, "attempt": found.attempt.number}})


async def report(call: Call) -> Response:
    """`kill`: somebody has stopped it, or it is not this worker's any more; end it and report Killed."""
    given = await body(call, REPORT, required=("run_id", "job_status"))
    heard = await call.context.lake_work.report(call.caller, _told(given))
    mark_routine(call.request.scope)
    answer: dict[str, object] = {"success": heard.taken}
    if heard.kill:
        answer["kill"] = True
    if not heard.taken:
        answer["job_status"] = heard.status
        answer["message"] = f"run {given['run_id']} is over: {heard.status}; this report came late and changed nothing"
    return json(answer)


async def progress(call: Call) -> Response:
    """All that lives of the organisation, oldest first."""
    call.query({})
    found = await call.context.lake_work.live(call.caller)
    mark_routine(call.request.scope)
    return listed(found, lambda run: {**rendering.run(run), "progress": run.progress})


def _seconds(field: str, value: object) -> float:
    """Also with a fraction."""
    with suppress(ValueError):
        value = float(str(value))
    return float(number(0, LONGEST_WAIT_SECONDS)(field, value))


def _told(given: dict[str, Any]) -> Told:
    return Told(
        run_id=given["run_id"],
        status=given["job_status"],
        job_id=given.get("job_id"),
        attempt=given.get("attempt"),
        message=given.get("message"),
        progress={name: given[field] for field, name in COUNTED.items() if field in given},
    )


ROUTES: Final[tuple[tuple[str, str, Handler], ...]] = (
    ("GET", "/schedule/job/next", next_job),
    ("POST", "/schedule/job/report", report),
    ("GET", "/schedule/job/progress", progress),
)
