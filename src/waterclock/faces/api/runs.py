"""Runs: asked for one by one or many at once, listed, shown and stopped: `/runs`, `/runs/batch`, `/runs/{id}`."""

from collections.abc import Mapping
from typing import Any, Final

from starlette.responses import Response

from waterclock.domain.errors import NotFound
from waterclock.domain.moment import SECOND, to_iso
from waterclock.domain.run import UNBEGUN, Attempt, RunState, attempt_wire_id
from waterclock.faces.api.call import NAMESPACES, OURS, PAGING, Call, Handler, json, json_page, namespace, page_of
from waterclock.faces.api.fields import MOST_SECONDS, Fields, inner, integer, one_of, several, text, texts
from waterclock.faces.api.jobs import refuse_chains
from waterclock.faces.iso import to_iso_or_none
from waterclock.services.paging import Page, PageRequest
from waterclock.stores.ops.newruns import Inserted
from waterclock.stores.ops.starting import RunRequest
from waterclock.stores.ops.stopping import StopAnswer

MOST_AT_ONCE: Final = 5_000
PAGES_SEARCHED: Final = 20  # in one call for the runs of a job in one state; the token goes on from there

REQUEST: Final[Fields] = {
    "job": text(),
    "arguments": texts(),
    "timeout_seconds": integer(1, MOST_SECONDS),
    "notify_after_seconds": integer(1, MOST_SECONDS),
}


def rendered(attempt: Attempt) -> dict[str, object]:
    """An attempt with what belongs to its run; a retry is an attempt of its own, named by `next_attempt`."""
    return {
        "id": attempt.wire_id,
        "attempt_id": attempt.id,
        "attempt": attempt.number,
        "attempts": attempt.attempts,
        "next_attempt": _next_attempt(attempt),
        "previous_run": attempt.previous_wire_id,
        "namespace": attempt.namespace,
        "job": attempt.job_name,
        "job_version": attempt.job_version,
        "kind": attempt.kind,
        "owner": attempt.owner,
        "requested_by": attempt.requested_by,
        "trigger": attempt.trigger_name,
        "state": attempt.state,
        "wait_reason": attempt.wait_reason if attempt.state in UNBEGUN else None,
        "phase": attempt.phase if attempt.state is RunState.RUNNING else None,
        "message": attempt.message,
        "arguments": attempt.arguments,
        "timeout_seconds": attempt.timeout_seconds,
        "fire_time": to_iso(attempt.run_at),
        "created_at": to_iso(attempt.created_at),
        "started_at": to_iso_or_none(attempt.started_at),
        "ended_at": to_iso_or_none(attempt.ended_at),
        "execution_seconds": _execution_seconds(attempt),
        "exit_code": attempt.exit_code,
        "exit_signal": attempt.exit_signal,
        "cpu_seconds": None if attempt.cpu_us is None else attempt.cpu_us / SECOND,
        "peak_rss_bytes": attempt.peak_rss_bytes,
        "pid": attempt.pid,
        "node": attempt.node,
    }


async def start_run(call: Call) -> Response:
    given = await call.body({**REQUEST, "namespace": namespace}, required=("job",))
    place = given.get("namespace", OURS)
    refuse_chains(place, given["job"])
    (started,) = await call.context.runs.start(call.caller, place, [_request(given)])
    call.is_about(given["job"], started.wire_id)
    return json(_started(started), 201)


async def start_batch(call: Call) -> Response:
    """All of them in one transaction, or none."""
    requests = several(inner(REQUEST, required=("job",)), MOST_AT_ONCE, least=1)
    given = await call.body({"runs": requests, "namespace": namespace}, required=("runs",))
    wanted, place = [_request(each) for each in given["runs"]], given.get("namespace", OURS)
    refuse_chains(place, wanted[0].job_name)
    call.is_about(", ".join(dict.fromkeys(each.job_name for each in wanted)))
    started = await call.context.runs.start(call.caller, place, wanted)
    return json({"runs": [_started(each) for each in started]}, 201)


async def list_runs(call: Call) -> Response:
    """Newest first. Of a job in one state a page may be short and still have a token: it says how far we looked."""
    query = call.query({**PAGING, "state": one_of(RunState), "job": text(), "namespace": namespace})
    page, states = page_of(query), frozenset([query["state"]] if "state" in query else RunState)
    if "job" in query:
        return json_page(await _of_job(call, query.get("namespace", OURS), query["job"], states, page), rendered)
    namespaces = [query["namespace"]] if "namespace" in query else NAMESPACES
    return json_page(await call.context.runs.list(call.caller, namespaces, states, page), rendered)


async def get_run(call: Call) -> Response:
    call.query({})
    return json(rendered(await call.context.runs.get(call.caller, call.name("id"))))


async def stop_run(call: Call) -> Response:
    """The state it was found in; it is dead when it is shown as STOPPED."""
    await call.body({})
    (answer,) = await call.context.runs.stop(call.caller, [call.name("id")])
    if answer.state is None:
        raise NotFound("run", call.name("id"))
    return json(_answered(answer), 202 if answer.accepted else 200)


async def stop_runs(call: Call) -> Response:
    given = await call.body({"ids": several(text(), MOST_AT_ONCE, least=1)}, required=("ids",))
    call.is_about(", ".join(given["ids"]))
    answers = await call.context.runs.stop(call.caller, given["ids"])
    return json({"runs": [_answered(answer) for answer in answers]}, 202)


async def _of_job(call: Call, place: str, job: str, states: frozenset[RunState], page: PageRequest) -> Page[Attempt]:
    for _ in range(PAGES_SEARCHED):
        found = await call.context.runs.of_job(call.caller, place, job, page)
        items = [attempt for attempt in found.items if attempt.state in states]
        if items or found.next_token is None:
            return Page(items=items, next_token=found.next_token)
        page = PageRequest(size=page.size, token=found.next_token)
    return Page(items=[], next_token=page.token)


def _request(given: Mapping[str, Any]) -> RunRequest:
    options = {name: value for name, value in given.items() if name not in ("job", "namespace")}
    return RunRequest(job_name=given["job"], **options)


def _started(inserted: Inserted) -> dict[str, object]:
    return {"id": inserted.wire_id, "state": inserted.state}


def _answered(answer: StopAnswer) -> dict[str, object]:
    return {"id": answer.wire_id, "state": answer.state, "accepted": answer.accepted}


def _next_attempt(attempt: Attempt) -> str | None:
    if attempt.attempts <= attempt.number + 1:
        return None
    return attempt_wire_id(attempt.wire_id.partition("_attempt_")[0], attempt.number + 1)


def _execution_seconds(attempt: Attempt) -> float | None:
    if attempt.started_at is None or attempt.ended_at is None:
        return None
    return (attempt.ended_at - attempt.started_at) / SECOND


ROUTES: Final[tuple[tuple[str, str, Handler], ...]] = (
    ("GET", "/runs", list_runs),
    ("POST", "/runs", start_run),
    ("POST", "/runs/batch", start_batch),
    ("POST", "/runs/stop", stop_runs),
    ("GET", "/runs/{id}", get_run),
    ("POST", "/runs/{id}/stop", stop_run),
)
