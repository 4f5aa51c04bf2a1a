"""Operations that are one statement here, and a transaction of their own: one trip instead of six."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from waterclock.domain.moment import Moment
from waterclock.stores.ops.volley import Volley
from waterclock.stores.ops.volley_firing import Shot, fire_volley
from waterclock.stores.postgres.session import PostgresSession


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


INSTEAD: Final[Mapping[Any, Callable[..., Any]]] = {fire_volley: _fire_volley}
