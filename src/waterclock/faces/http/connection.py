"""One connection: uvicorn's, with limits on the head of a request, which it has none of.

A head that is too large or has too many lines is answered 431, one that does not arrive in time 408; then it is closed.
A call of the Glue face that arrives whole, and alone, is answered past ASGI (`exchange.py`).
"""

import asyncio
from functools import partial
from http import HTTPStatus
from typing import Any, Final, cast

from starlette.types import Scope
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from waterclock.faces.http.exchange import Answer, Exchange, TakeWhole, heard, written
from waterclock.faces.http.joining import Joining
from waterclock.faces.http.marks import FIELDS

HEAD_BYTES: Final = 64 * 1024
HEAD_LINES: Final = 200
HEAD_SECONDS: Final = 15.0
LINGER_SECONDS: Final = 1.0
WHOLE_URLS: Final = {b"/": "/", b"/glue": "/glue"}
WHOLE_BYTES: Final = 64 * 1024  # of a body: a larger one is read by whoever answers it
MOST_DIGITS: Final = 5
WHOLE_SECONDS: Final = 0.2  # many clients send a head and its body in two packets: so long the other is waited for


class Connection(HttpToolsProtocol):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._take_whole: TakeWhole | None = getattr(self.app, "whole", None)
        self._head_bytes = 0  # of the lines that are complete
        self._raw_bytes = 0  # of a head that is not: one endless line completes nothing
        self._in_head = self._in_body = False
        self._begun = 0
        self._head_refused = HTTPStatus.BAD_REQUEST
        self._refused = False
        self._head_timer: asyncio.TimerHandle | None = None
        self._fields: dict[bytes, bytes] = {}
        self._held: bytes | None = None  # what has come of a body, of a request that nobody knows of yet
        self._held_timer: asyncio.TimerHandle | None = None
        self._rested_at: float | None = None  # since when there is nothing to do
        self._rest_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        self._joining = Joining(transport, self.loop)
        super().connection_made(cast(asyncio.Transport, self._joining))
        self._expect_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timer()
        if self._rest_timer is not None:
            self._rest_timer.cancel()
        self._let_go()
        super().connection_lost(exc)

    def shutdown(self) -> None:
        self._let_go()
        super().shutdown()

    def data_received(self, data: bytes) -> None:
        if self._refused or self._joining.is_closing():
            return
        was_idle, self._begun = not (self._in_head or self._in_body), 0
        self._rested_at = None
        super().data_received(data)
        if self._in_head:
            whole = self._begun == int(was_idle)  # these bytes are all of this one head
            self._still_in_head(len(data) if whole else 0)
        elif self._held is not None and self._held_timer is None:
            self._held_timer = self.loop.call_later(WHOLE_SECONDS, self._let_go)

    def _still_in_head(self, more: int) -> None:
        self._raw_bytes += more
        if self._refused or self.transport.is_closing():
            return
        if self._raw_bytes > HEAD_BYTES:
            self._refuse(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)
        elif self._head_timer is None:  # the next request of a kept connection
            self._expect_head()

    # What the parser calls

    def on_message_begin(self) -> None:
        """Without a scope: most requests need none of uvicorn's."""
        self.url = b""
        self.expect_100_continue = False
        self.headers = []
        self._in_head, self._begun = True, self._begun + 1
        self._head_bytes = self._raw_bytes = 0

    def on_url(self, url: bytes) -> None:
        self._head_bytes += len(url)
        if self._head_bytes > HEAD_BYTES:
            raise self._too_large()
        self.url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        """It is called for every line."""
        self.headers.append((name.lower(), value))
        self._head_bytes += len(name) + len(value)
        if self._head_bytes > HEAD_BYTES or len(self.headers) > HEAD_LINES:
            raise self._too_large()

    def on_headers_complete(self) -> None:
        self._in_head, self._in_body = False, True
        if self._head_timer is not None:
            self._stop_timer()
        self._fields = fields = dict(self.headers)
        if b"expect" in fields:
            self.expect_100_continue = any(
                name == b"expect" and value.lower() == b"100-continue" for name, value in self.headers
            )
        if self._may_be_whole():
            self._held = b""
        else:
            self._begin_cycle()

    def on_body(self, body: bytes) -> None:
        if self._held is None:
            super().on_body(body)
        else:
            self._held += body

    def on_message_complete(self) -> None:
        self._in_body = False
        if self._held is None:
            super().on_message_complete()
        else:
            body, self._held = self._held, None
            self._stop_held_timer()
            self._begin_exchange(body)

    # A request that arrives whole, and one that does not

    def _may_be_whole(self) -> bool:
        parser, cycle = self.parser, cast(Exchange | None, self.cycle)
        return (
            self._take_whole is not None
            and self.url in WHOLE_URLS
            and parser.get_method() == b"POST"
            and _is_small(self._fields.get(b"content-length"))
            and (cycle is None or cycle.response_complete)
            and not (self.pipeline or self.expect_100_continue or parser.should_upgrade())
            and parser.get_http_version() == "1.1"
            and parser.should_keep_alive()
        )

    def _begin_exchange(self, body: bytes) -> None:
        scope: Scope = {
            "type": "http",
            "method": "POST",
            "path": WHOLE_URLS[self.url],
            "raw_path": self.url,
            "query_string": b"",
            "headers": self.headers,
            "client": self.client,
        }
        if len(self._fields) == len(self.headers):
            scope[FIELDS] = self._fields
        exchange = Exchange()
        self.cycle = exchange  # type: ignore[assignment]
        exchange.task = task = self.loop.create_task(self._answer(exchange, scope, body))
        self.tasks.add(task)

    async def _answer(self, exchange: Exchange, scope: Scope, body: bytes) -> None:
        assert self._take_whole is not None
        assert exchange.task is not None
        try:
            await self._take_whole(scope, body, partial(self._send, exchange))
            if self.flow.write_paused and not exchange.disconnected:
                await self.flow.drain()
        except BaseException:
            exchange.keep_alive = False
            exchange.task.add_done_callback(heard)
            raise
        finally:
            exchange.response_complete = True
            self.tasks.discard(exchange.task)
            if not exchange.keep_alive:
                self._joining.close()
        self.on_response_complete()

    def _send(self, exchange: Exchange, answer: Answer) -> None:
        if answer.closes:
            exchange.keep_alive = False
        if not exchange.disconnected:
            lines = self.server_state.default_headers
            self._joining.write_whole(written(answer, lines, keeps=exchange.keep_alive))

    def _let_go(self) -> None:
        """To the app as uvicorn does it: somebody else reads the body."""
        self._stop_held_timer()
        if self._held is not None:
            held, self._held = self._held, None
            self._begin_cycle()
            if held:
                super().on_body(held)

    def _begin_cycle(self) -> None:
        headers, url, expects = self.headers, self.url, self.expect_100_continue
        super().on_message_begin()
        self.headers, self.url, self.expect_100_continue = headers, url, expects
        self.scope["headers"] = headers
        super().on_headers_complete()

    # Between requests

    def on_response_complete(self) -> None:
        """In place of uvicorn's, which makes and drops a timer for every answer."""
        self.server_state.total_requests += 1
        if self._joining.is_closing():
            return
        self.flow.resume_reading()
        if self.pipeline:
            self._start_asgi_task(*self.pipeline.pop())
            return
        self._rested_at = self.loop.time()
        if self._rest_timer is None:
            self._rest_timer = self.loop.call_later(self.timeout_keep_alive, self._look_at_rest)

    def _look_at_rest(self) -> None:
        """While a request is answered there is no timer: the answer makes one."""
        self._rest_timer = None
        if self._rested_at is None or self._joining.is_closing():
            return
        left = self._rested_at + self.timeout_keep_alive - self.loop.time()
        if left > 0:
            self._rest_timer = self.loop.call_later(left, self._look_at_rest)
        else:
            self._joining.close()

    def send_400_response(self, msg: str) -> None:
        """What uvicorn calls when the parser stops, also when it was stopped by us."""
        self._refuse(self._head_refused)

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

    def _stop_held_timer(self) -> None:
        if self._held_timer is not None:
            self._held_timer.cancel()
            self._held_timer = None

    def _refuse(self, status: HTTPStatus) -> None:
        body = status.phrase.encode()
        lines = (
            f"HTTP/1.1 {status.value} {status.phrase}",
            "content-type: text/plain; charset=utf-8",
            f"content-length: {len(body)}",
            "connection: close",
        )
        self._stop_timer()
        self._stop_held_timer()
        self._held = None
        self._refused = True
        self.transport.write("\r\n".join((*lines, "", "")).encode() + body)
        # Closed at once, with bytes unread, the connection would take the answer with it: what comes is thrown away.
        self.transport.write_eof()
        self.loop.call_later(LINGER_SECONDS, self.transport.close)


def _is_small(length: bytes | None) -> bool:
    """As it is declared: the parser takes nothing but digits, and no more bytes than they say."""
    return length is not None and len(length) <= MOST_DIGITS and int(length) <= WHOLE_BYTES
