"""Operations that are one statement here, and a transaction of their own: one trip instead of six."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from waterclock.domain.errors import AlreadyExists
from waterclock.domain.moment import Moment
from waterclock.domain.outcome import Outcome
from waterclock.stores.base import NOW
from waterclock.stores.ops.bundle_ends import ended
from waterclock.stores.ops.lone_ends import Contested, bundled, end_bundled
from waterclock.stores.ops.moves import Moves
from waterclock.stores.ops.starting_known import KnownStart, Written, start_known
from waterclock.stores.ops.volley import Volley
from waterclock.stores.ops.volley_firing import Shot, fire_volley
from waterclock.stores.postgres.session import CHANNEL, PostgresSession


async def _fire_volley(session: PostgresSession, *, volley: Volley, about: Moment) -> Shot:
    found = await session.run_if(
        "hold_as_they_were",
        {
            "offset_us": session.offset_us,
            "trigger_ids": list(volley.triggers),
            "versions": list(volley.triggers.values()),
            "job_ids": list(volley.jobs),
            "job_versions": list(volley.jobs.values()),
            "last": volley.last,
            "due_at": volley.due_at,
            "until": volley.until,
            "count": len(volley),
        },
        volley.stamped(about),
    )
    return Shot(found["yes"], about if found["yes"] else found["now"])


async def _start_known(session: PostgresSession, *, start: KnownStart) -> Written:
    rows = await start.rows(session)
    found = await session.run_if(
        "hold_known_jobs",
        {
            "offset_us": session.offset_us,
            "ids": list(start.versions),
            "versions": list(start.versions.values()),
            "rooms": list(start.rooms.values()),
            "about": start.about,
            "until": start.until,
            "count": len(start.versions),
            "channel": CHANNEL,
            "message": session.message(),
        },
        rows,
    )
    return Written(found["yes"], found["now"])


async def _end_bundled(session: PostgresSession, *, outcomes: Sequence[Outcome]) -> None:
    calls, moves = bundled(outcomes), Moves()
    ids, rows = sorted({call.bundle.id for call, _ in calls}), ended(calls, moves, NOW)
    given = {"offset_us": session.offset_us, "ids": ids, "count": len(ids)}
    try:
        found = await session.run_if("hold_bundles_at_once", given, {**rows, **moves.batch(NOW)})
    except AlreadyExists as said_before:
        raise Contested from said_before
    if not found["yes"]:
        raise Contested


INSTEAD: Final[Mapping[Any, Callable[..., Any]]] = {
    fire_volley: _fire_volley,
    start_known: _start_known,
    end_bundled: _end_bundled,
}
