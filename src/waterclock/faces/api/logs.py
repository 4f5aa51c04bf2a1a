"""Logs: a piece by its offset, or followed until the run has ended: `/runs/{id}/log`, `/runs/{id}/log/follow`."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any, Final

import orjson
from starlette.responses import Response, StreamingResponse
from starlette.types import Send

from waterclock.domain.errors import Unavailable, WaterclockError
from waterclock.domain.run import Attempt
from waterclock.faces.api.call import Call, Handler, json
from waterclock.faces.api.errors import described
from waterclock.faces.api.fields import integer, written
from waterclock.faces.api.runs import rendered
from waterclock.services.logs import LogPage

MOST_BYTES: Final = 1024 * 1024
USUAL_BYTES: Final = 64 * 1024
FURTHEST: Final = 2**62
EVENTS: Final = "text/event-stream"

# A proxy that gathers would undo the following.
STREAMED: Final = {"cache-control": "no-store", "x-accel-buffering": "no", "x-content-type-options": "nosniff"}
OFFSET: Final = written(integer(0, FURTHEST))

Followed = AsyncIterator[LogPage | Attempt]


class Stream(StreamingResponse):
    """Closes what it streams from as soon as the client is gone, wherever that stands."""

    async def stream_response(self, send: Send) -> None:
        async with aclosing(self.body_iterator):  # type: ignore[type-var]  # always a generator of ours
            await super().stream_response(send)


async def read_log(call: Call) -> Response:
    query = call.query({"offset": OFFSET, "limit": written(integer(1, MOST_BYTES))})
    offset, limit = query.get("offset", 0), query.get("limit", USUAL_BYTES)
    page = await call.context.logs.read(call.caller, call.name("id"), offset=offset, limit=limit)
    return json({"text": page.text, "next_offset": page.next_offset, "ended": page.ended})


async def follow_log(call: Call) -> Response:
    """Plain text; where the client accepts events, the run's states between the pieces of its log, and its end."""
    offset = call.query({"offset": OFFSET}).get("offset", 0)
    wire_id = call.name("id")
    await call.context.runs.get(call.caller, wire_id)  # what is refused is refused before the stream begins
    followed = call.context.logs.follow(call.caller, wire_id, offset=offset)
    if call.context.stopping is not None:
        followed = _until(call.context.stopping, followed)
    if EVENTS in call.request.headers.get("accept", ""):
        return Stream(_as_events(followed), headers=STREAMED, media_type=EVENTS)
    return Stream(_as_text(followed), headers=STREAMED, media_type="text/plain")


async def _until(stopping: asyncio.Event, followed: Followed) -> Followed:
    """A server that is to stop does not wait for its followers: they ask again, elsewhere or later."""
    stop = asyncio.create_task(stopping.wait())
    try:
        async with aclosing(followed):  # type: ignore[type-var]
            while not stopping.is_set():
                coming = asyncio.ensure_future(anext(followed, None))
                await asyncio.wait({coming, stop}, return_when=asyncio.FIRST_COMPLETED)
                if not coming.done():
                    await _cancel(coming)
                elif (each := coming.result()) is None:
                    return
                else:
                    yield each
        raise Unavailable("the server is stopping")
    finally:
        await _cancel(stop)


async def _as_text(followed: Followed) -> AsyncIterator[str]:
    """What cuts it short is its last line: the status was sent long ago."""
    try:
        async with aclosing(followed):  # type: ignore[type-var]
            async for each in followed:
                if isinstance(each, LogPage) and each.text:
                    yield each.text
    except WaterclockError as error:
        yield f"\n[waterclock: {error}; the log goes on]\n"


async def _as_events(followed: Followed) -> AsyncIterator[bytes]:
    """`log` {text, next_offset}, `state` {the run}, and at last `end` {the run}, or `error` {type, message, field}."""
    try:
        async with aclosing(followed):  # type: ignore[type-var]
            async for each in followed:
                match each:
                    case LogPage(text=""):
                        continue
                    case LogPage():
                        yield _event("log", {"text": each.text, "next_offset": each.next_offset})
                    case Attempt():
                        yield _event("end" if each.ended else "state", rendered(each))
    except WaterclockError as error:
        yield _event("error", described(error))


async def _cancel(task: "asyncio.Future[Any]") -> None:
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task


def _event(name: str, data: object) -> bytes:
    return b"event: %s\ndata: %s\n\n" % (name.encode(), orjson.dumps(data))


ROUTES: Final[tuple[tuple[str, str, Handler], ...]] = (
    ("GET", "/runs/{id}/log", read_log),
    ("GET", "/runs/{id}/log/follow", follow_log),
)
