"""Request bodies of the faces that leave reading to Starlette: not too large, not too slow."""

import asyncio
from collections.abc import Container
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from waterclock.faces.http.problems import problem

DRAIN_SECONDS: Final = 2.0


class Limited:
    """An ASGI app whose request body is refused with 413 past `most` bytes and with 408 past `seconds`.

    The paths in `spare` see to that themselves.
    """

    def __init__(self, app: ASGIApp, *, most: int, seconds: float, spare: Container[str] = ()) -> None:
        self._app = app
        self._spare = spare
        self._most = most
        self._seconds = seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] in self._spare:
            await self._app(scope, receive, send)
            return
        begun = False

        async def watched_send(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            if _declared(scope) > self._most:
                raise _Refused(413, f"the request body is larger than {self._most} bytes")
            await self._app(scope, self._limited(receive), watched_send)
        except _Refused as refused:
            if begun:
                raise
            await refuse(scope, receive, send, refused.status, str(refused))

    def _limited(self, receive: Receive) -> Receive:
        deadline = asyncio.get_running_loop().time() + self._seconds
        taken, complete = 0, False

        async def limited() -> Message:
            nonlocal taken, complete
            if complete:  # what comes now is the end of the connection: a long poll may wait for it
                return await receive()
            try:
                async with asyncio.timeout_at(deadline):
                    message = await receive()
            except TimeoutError:
                raise _Refused(408, f"the request body did not arrive within {self._seconds:g} s") from None
            taken += len(message.get("body", b""))
            if taken > self._most:
                raise _Refused(413, f"the request body is larger than {self._most} bytes")
            complete = not message.get("more_body", False)
            return message

        return limited


async def refuse(scope: Scope, receive: Receive, send: Send, status: int, message: str) -> None:
    """Answer before the body has arrived, and close."""

    async def send_then_drain(event: Message) -> None:
        if status == 413 and event["type"] == "http.response.body":
            await send({**event, "more_body": True})
            await drain(receive)
            await send({"type": "http.response.body", "body": b""})
        else:
            await send(event)

    response = problem(scope, status, message, headers={"connection": "close"})
    await response(scope, receive, send_then_drain)


async def drain(receive: Receive) -> None:
    """Throw away what still arrives, for a moment: a connection closed at once would take the answer with it."""
    try:
        async with asyncio.timeout(DRAIN_SECONDS):
            while (await receive()).get("more_body", False):
                pass
    except TimeoutError:
        pass


class _Refused(Exception):
    def __init__(self, status: int, message: str) -> None:
        self.status = status
        super().__init__(message)


def _declared(scope: Scope) -> int:
    for name, value in scope["headers"]:
        if name == b"content-length" and value.isdigit() and len(value) < 19:
            return int(value)
    return 0
