"""Schedules as they are written and shown, and a preview of one that no trigger has yet: `/schedules/preview`."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from starlette.responses import Response

from waterclock.domain.access import Right
from waterclock.domain.moment import SECOND, from_datetime, to_datetime, to_iso
from waterclock.domain.schedule import Fold, Gap, Schedule, parse_schedule
from waterclock.domain.schedule.parse import MOST_JITTER
from waterclock.faces.api.call import Call, Handler, json
from waterclock.faces.api.fields import Fields, day, integer, moment, number, one_of, several, text, written
from waterclock.faces.iso import to_iso_or_none
from waterclock.services.triggers import upcoming

MOST_PREVIEWED: Final = 1_000
USUALLY_PREVIEWED: Final = 10

# What a schedule may have besides its expression, and the domain's name of each.
OPTIONS: Final = {
    "timezone": "timezone",
    "gap": "gap",
    "fold": "fold",
    "start_at": "start",
    "end_at": "end",
    "jitter_seconds": "jitter_seconds",
    "exclude": "exclude",
}
FIELDS: Final[Fields] = {
    "schedule": text(1_000, least=0),
    "timezone": text(64),
    "gap": one_of(Gap),
    "fold": one_of(Fold),
    "start_at": moment,
    "end_at": moment,
    "jitter_seconds": number(0, MOST_JITTER),
    "exclude": several(day, 10_000),
}
COUNT: Final[Fields] = {"count": written(integer(1, MOST_PREVIEWED)), "from": moment}


def schedule_of(given: Mapping[str, Any], seed: str = "") -> Schedule:
    """`seed` makes two triggers of the same schedule jitter apart."""
    options = {theirs: given[ours] for ours, theirs in OPTIONS.items() if ours in given}
    return parse_schedule(given["schedule"], seed=seed, **options)


def described(stored: Mapping[str, Any] | None) -> dict[str, object]:
    """What `schedule_of` was given, read off what is stored; nothing for no schedule."""
    shown: dict[str, object] = {}
    while stored:
        match stored["kind"]:
            case "bounded":
                shown |= {"start_at": to_iso_or_none(stored["start"]), "end_at": to_iso_or_none(stored["end"])}
            case "jittered":
                shown["jitter_seconds"] = stored["most"] / SECOND
            case "excluding":
                shown |= {"exclude": stored["dates"], "timezone": stored["timezone"]}
        shown |= {name: stored[name] for name in ("timezone", "gap", "fold") if name in stored}
        stored = stored.get("schedule")
    return shown


def shown(fires: Sequence[datetime]) -> Response:
    return json({"fires": [to_iso(from_datetime(each)) for each in fires]})


async def start_and_count(call: Call, query: Mapping[str, Any]) -> tuple[datetime, int]:
    """From the store's now, unless the caller says otherwise."""
    after = query.get("from") or to_datetime(await call.context.cluster.now())
    return after, query.get("count", USUALLY_PREVIEWED)


async def preview(call: Call) -> Response:
    call.caller.needs(Right.READ)
    fields = {name: FIELDS[name] for name in ("timezone", "gap", "fold")}
    query = call.query({**COUNT, **fields, "expression": FIELDS["schedule"]}, required=("expression",))
    schedule = schedule_of({**query, "schedule": query["expression"]})
    return shown(upcoming(schedule, *await start_and_count(call, query)))


ROUTES: Final[tuple[tuple[str, str, Handler], ...]] = (("GET", "/schedules/preview", preview),)
