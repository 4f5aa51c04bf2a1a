"""A request that has arrived whole, and its answer in one piece: what most calls are, without the way around by ASGI.

An app that takes such requests has a method `whole`; others get all of theirs by ASGI.
"""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Any, Final

from starlette.responses import Response
from starlette.types import Scope
from uvicorn.protocols.http.httptools_impl import STATUS_LINE

CLOSE: Final = b"connection: close\r\n"


@dataclass(slots=True, kw_only=True)
class Answer:
    """Not frozen: there is one for every call."""

    status: int
    headers: bytes  # as lines, in our own words: nothing is looked for in them; neither its length nor `connection`
    body: bytes
    closes: bool = False


Reply = Callable[[Scope, bytes], Coroutine[Any, Any, Answer]]
TakeWhole = Callable[[Scope, bytes, Callable[[Answer], None]], Coroutine[Any, Any, None]]  # who gives its answer, once


class _NobodyWaits:
    """In the place of an event: all of the request is here."""

    def set(self) -> None: ...


class Exchange:
    """One request until its answer is sent. What uvicorn looks at in a cycle of its own, it finds here as well."""

    __slots__ = ("disconnected", "keep_alive", "message_event", "response_complete", "task")

    def __init__(self) -> None:
        self.response_complete = False
        self.disconnected = False
        self.keep_alive = True
        self.message_event = _NOBODY_WAITS
        self.task: asyncio.Task[None] | None = None


def whole_answer(response: Response) -> Answer:
    """After which the connection is closed."""
    lines = [b"%s: %s\r\n" % line for line in response.raw_headers if line[0] != b"content-length"]
    return Answer(status=response.status_code, headers=b"".join(lines), body=bytes(response.body), closes=True)


def heard(task: "asyncio.Task[None]") -> None:
    """The app has logged what went wrong: asyncio need not say it again."""
    if not task.cancelled():
        task.exception()


def written(answer: Answer, shared: Sequence[tuple[bytes, bytes]], *, keeps: bool) -> bytes:
    """`shared`: the headers of every answer."""
    lines = b"".join([b"%s: %s\r\n" % line for line in shared])
    length = b"content-length: %d\r\n%s\r\n" % (len(answer.body), b"" if keeps else CLOSE)
    return b"".join((STATUS_LINE[answer.status], lines, answer.headers, length, answer.body))


_NOBODY_WAITS: Final = _NobodyWaits()
