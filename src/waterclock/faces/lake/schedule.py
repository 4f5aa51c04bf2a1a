"""Lake jobs run and killed by hand: `/lake/schedule/job/{id}/now` and `…/kill`."""

from collections.abc import Mapping
from dataclasses import replace
from enum import StrEnum
from typing import Final

from starlette.responses import Response

from waterclock.domain.lake_sync import SyncMode
from waterclock.faces.api.call import Call, Handler, json
from waterclock.faces.api.fields import text
from waterclock.faces.glue.repeats import digest_of
from waterclock.faces.lake.fields import among, body, millisecond
from waterclock.faces.lake.jobs import job_id
from waterclock.faces.lake.rendering import MILLISECOND

IDEMPOTENCY_KEY: Final = "idempotency-key"


class Mode(StrEnum):
    """As clients of the seed's product send it; either way the job runs once more, and its schedule stays."""

    ONCE = "Once"
    CONTINUOUS = "Continuous"


# Of a sync also how this one run reads and writes.
MODES: Final[Mapping[str, SyncMode | None]] = {
    **{mode.value: None for mode in Mode},
    **{mode.value: mode for mode in SyncMode},
}


async def run_now(call: Call) -> Response:
    """At `at_time`, now where that is left out or over; refused while a run of it lives.

    Who sends it again with the same `Idempotency-Key`, because the answer was lost, is told of the same run.
    """
    given = await body(call, {"at_time": millisecond, "mode": among(MODES)})
    at, mode, number = given.get("at_time"), given.get("mode"), job_id(call)
    meant = {"job_id": number, "at_time": at, **({"mode": mode} if mode else {})}
    run_id = await call.context.lake.run_now(
        call.caller,
        number,
        at=None if at is None else at * MILLISECOND,
        mode=mode,
        digest=digest_of("lake now", replace(call.caller, call_id=_repetition(call)), meant),
    )
    return json({"success": True, "run_id": run_id})


async def kill(call: Call) -> Response:
    """Whether there was something to kill; it is dead when its status is Killed."""
    return json({"success": await call.context.lake.kill(call.caller, job_id(call))})


def _repetition(call: Call) -> str | None:
    """The client's own name for this call."""
    given = call.request.headers.get(IDEMPOTENCY_KEY)
    return None if given is None else str(text()(IDEMPOTENCY_KEY, given))


ROUTES: Final[tuple[tuple[str, str, Handler], ...]] = (
    ("PUT", "/schedule/job/{id}/now", run_now),
    ("PUT", "/schedule/job/{id}/kill", kill),
)
