"""Bookmarks: `/jobs/{name}/bookmark`, for programs that save theirs by a call, and for people who mend one."""

from typing import Final

from starlette.responses import Response

from waterclock.domain.bookmark import MOST_BYTES, Bookmark
from waterclock.domain.moment import to_iso
from waterclock.faces.api.call import Call, Handler, json
from waterclock.faces.api.fields import text
from waterclock.faces.api.jobs import asked_namespace


async def get_bookmark(call: Call) -> Response:
    return json(_rendered(await call.context.bookmarks.get(call.caller, asked_namespace(call), call.name())))


async def set_bookmark(call: Call) -> Response:
    given = await call.body({"content": text(MOST_BYTES, least=0)}, required=("content",))
    place = asked_namespace(call)
    return json(_rendered(await call.context.bookmarks.set(call.caller, place, call.name(), given["content"])))


async def reset_bookmark(call: Call) -> Response:
    """The entry stays: its `version` counts the resets."""
    return json(_rendered(await call.context.bookmarks.reset(call.caller, asked_namespace(call), call.name())))


def _rendered(bookmark: Bookmark) -> dict[str, object]:
    return {
        "job": bookmark.job_name,
        "version": bookmark.version,
        "runs": bookmark.runs,
        "attempt": bookmark.attempt,
        "run_id": bookmark.wire_id,
        "previous_run_id": bookmark.previous_wire_id,
        "content": bookmark.content,
        "updated_at": to_iso(bookmark.updated_at),
    }


ROUTES: Final[tuple[tuple[str, str, Handler], ...]] = (
    ("GET", "/jobs/{name}/bookmark", get_bookmark),
    ("PUT", "/jobs/{name}/bookmark", set_bookmark),
    ("DELETE", "/jobs/{name}/bookmark", reset_bookmark),
)
