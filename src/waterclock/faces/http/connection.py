"""One connection: uvicorn's, with limits on the head of a request, which it has none of.

A head that is too large or has too many lines is answered 431, one that does not arrive in time 408; then it is closed.
"""

import asyncio
from collections.abc import Sequence
from http import HTTPStatus
from typing import Any, Final, cast

from starlette.types import Scope
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from waterclock.faces.http.joining import Joining
from waterclock.faces.http.marks import ANSWER, WHOLE

HEAD_BYTES: Final = 64 * 1024
HEAD_LINES: Final = 200
HEAD_SECONDS: Final = 15.0
LINGER_SECONDS: Final = 1.0


class Connection(HttpToolsProtocol):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._head_bytes = 0  # of the lines that are complete
        self._raw_bytes = 0  # of a head that is not: one endless line completes nothing
        self._in_head = self._in_body = False
        self._begun = 0
        self._head_refused = HTTPStatus.BAD_REQUEST
        self._refused = False
        self._head_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        self._joining = Joining(transport, self.loop)
        super().connection_made(cast(asyncio.Transport, self._joining))
        self._expect_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._refused or self.transport.is_closing():
            return
        was_idle, self._begun = not (self._in_head or self._in_body), 0
        super().data_received(data)
        if self._in_head:
            whole = self._begun == int(was_idle)  # these bytes are all of this one head
            self._still_in_head(len(data) if whole else 0)

    def _still_in_head(self, more: int) -> None:
        self._raw_bytes += more
        if self._refused or self.transport.is_closing():
            return
        if self._raw_bytes > HEAD_BYTES:
            self._refuse(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)
        elif self._head_timer is None:  # the next request of a kept connection
            self._expect_head()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._in_head, self._begun = True, self._begun + 1
        self._head_bytes = self._raw_bytes = 0

    def on_url(self, url: bytes) -> None:
        self._take(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """In place of uvicorn's: it is called for every line."""
        lowered = name.lower()
        self.headers.append((lowered, value))
        self._take(len(name) + len(value))
        if len(self.headers) > HEAD_LINES:
            raise self._too_large()
        if lowered == b"expect" and value.lower() == b"100-continue":
            self.expect_100_continue = True

    def on_headers_complete(self) -> None:
        self._in_head, self._in_body = False, True
        self._stop_timer()
        self.scope[ANSWER] = self._answer  # type: ignore[typeddict-unknown-key]
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._in_body = False
        self.scope[WHOLE] = True  # type: ignore[typeddict-unknown-key]
        super().on_message_complete()

    def _answer(self, scope: Scope, status: int, headers: Sequence[tuple[bytes, bytes]], body: bytes) -> bool:
        """A whole answer in one go; False where it takes more than that, and nothing was done.

        The headers are our own words, with a length: nothing is looked for in them.
        """
        cycle = self.cycle
        can_be = cycle.scope is scope and cycle.keep_alive and not (cycle.response_started or cycle.disconnected)
        if not can_be or self.flow.write_paused or self.transport.is_closing():
            return False
        lines = [b"%s: %s\r\n" % line for line in (*self.server_state.default_headers, *headers)]
        self._joining.write_whole(b"".join((STATUS_LINE[status], *lines, b"\r\n", body)))
        cycle.response_started = cycle.response_complete = True
        cycle.message_event.set()
        cycle.on_response()
        return True

    def send_400_response(self, msg: str) -> None:
        """What uvicorn calls when the parser stops, also when it was stopped by us."""
        self._refuse(self._head_refused)

    def _take(self, length: int) -> None:
        self._head_bytes += length
        if self._head_bytes > HEAD_BYTES:
            raise self._too_large()

    def _too_large(self) -> ValueError:
        self._head_refused = HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE
        return ValueError("the head of the request is too large")

    def _expect_head(self) -> None:
        self._head_timer = self.loop.call_later(HEAD_SECONDS, self._head_is_late)

    def _head_is_late(self) -> None:
        if not self.transport.is_closing():
            self._refuse(HTTPStatus.REQUEST_TIMEOUT)

    def _stop_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _refuse(self, status: HTTPStatus) -> None:
        body = status.phrase.encode()
        lines = (
            f"HTTP/1.1 {status.value} {status.phrase}",
            "content-type: text/plain; charset=utf-8",
            f"content-length: {len(body)}",
            "connection: close",
        )
        self._stop_timer()
        self._refused = True
        self.transport.write("\r\n".join((*lines, "", "")).encode() + body)
        # Closed at once, with bytes unread, the connection would take the answer with it: what comes is thrown away.
        self.transport.write_eof()
        self.loop.call_later(LINGER_SECONDS, self.transport.close)
