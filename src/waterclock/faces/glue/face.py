"""The Glue face as an ASGI app: `POST /` in AWS JSON 1.1. Each action is a handler; the table of them is at the foot.

The order keeps hostile requests cheap: the size of the body, then the signature, then the target, then the JSON, then
the model. A refusal is a reply; what nobody foresaw is raised, for the app to log and to answer without details.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping
from typing import Any, Final, Protocol

from starlette.types import Receive, Scope, Send

from waterclock.domain.access import Caller
from waterclock.domain.errors import WaterclockError
from waterclock.faces.glue import jobs, model, runs, triggers
from waterclock.faces.glue.errors import BodyTooSlow, NotServedYet
from waterclock.faces.glue.protocol import (
    BODY_LIMIT,
    Reply,
    failure,
    new_request_id,
    parse_body,
    parse_target,
    read_body,
    success,
)
from waterclock.faces.glue.services import Handler, Services
from waterclock.faces.http.body import drain
from waterclock.faces.http.marks import mark, request_id_of
from waterclock.faces.sigv4 import SignedRequest

BODY_SECONDS: Final = 20.0

log = logging.getLogger(__name__)


class Authenticate(Protocol):
    """Who signed the request; `Unauthenticated` where nobody did."""

    async def __call__(self, request: SignedRequest, *, address: str, request_id: str) -> Caller: ...


class Glue:
    """An ASGI app for one path."""

    def __init__(
        self,
        services: Services,
        authenticate: Authenticate,
        *,
        body_limit: int = BODY_LIMIT,
        body_seconds: float = BODY_SECONDS,
    ) -> None:
        self._services = services
        self._authenticate = authenticate
        self._body_limit = body_limit
        self._body_seconds = body_seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request_id = request_id_of(scope) or new_request_id()
        mark(scope, face="glue")
        try:
            reply = success(await self._answer(scope, receive, request_id), request_id=request_id)
        except WaterclockError as refused:
            reply = failure(refused, request_id=request_id)
            if reply.status >= 500:
                log.error("request %s failed: %s", request_id, refused)
        await _send(reply, receive, send)

    async def _answer(self, scope: Scope, receive: Receive, request_id: str) -> Mapping[str, Any]:
        headers = scope["headers"]
        signed = SignedRequest(
            method=scope["method"],
            raw_path=scope["raw_path"],
            raw_query=scope["query_string"],
            headers=headers,
            body=await self._body(headers, receive),
        )
        address = scope["client"][0] if scope.get("client") else ""
        caller = await self._authenticate(signed, address=address, request_id=request_id)
        action = parse_target(_header(headers, b"x-amz-target"), model.ACTIONS)
        mark(scope, face="glue", action=action)
        handler = HANDLERS.get(action)
        if handler is None:
            raise NotServedYet(action)
        return await handler(self._services, caller, model.validate(action, parse_body(signed.body)))

    async def _body(self, headers: list[tuple[bytes, bytes]], receive: Receive) -> bytes:
        declared = _header(headers, b"content-length")
        try:
            async with asyncio.timeout(self._body_seconds):
                return await read_body(_chunks(receive), declared=declared, limit=self._body_limit)
        except TimeoutError:
            raise BodyTooSlow(f"The request body did not arrive within {self._body_seconds:g} s") from None


async def _chunks(receive: Receive) -> AsyncIterator[bytes]:
    more = True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise BodyTooSlow("The caller went away before the request body was complete")
        yield message.get("body", b"")
        more = message.get("more_body", False)


async def _send(reply: Reply, receive: Receive, send: Send) -> None:
    headers = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in reply.headers.items()]
    headers.append((b"content-length", str(len(reply.body)).encode()))
    await send({"type": "http.response.start", "status": reply.status, "headers": headers})
    if reply.status == 413:
        await send({"type": "http.response.body", "body": reply.body, "more_body": True})
        await drain(receive)
        await send({"type": "http.response.body", "body": b""})
    else:
        await send({"type": "http.response.body", "body": reply.body})


def _header(headers: list[tuple[bytes, bytes]], wanted: bytes) -> str | None:
    for name, value in headers:
        if name == wanted:
            return value.decode("latin-1")
    return None


HANDLERS: Final[Mapping[str, Handler]] = {**jobs.ACTIONS, **runs.ACTIONS, **triggers.ACTIONS}
