"""The Glue face as an ASGI app: `POST /` in AWS JSON 1.1. Each action is a handler; the table of them is at the foot.

The same endpoint serves what Glue's clients call beside it, each service in its own protocol: a target names its
service, a form is of the query protocol, and all else is taken for Glue.

The order keeps hostile requests cheap: the size of the body, then the signature, then the action, then the body as
JSON or a form, then the model. A refusal is a reply; what nobody foresaw is raised, for the app to log and to answer
without details.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Collection, Mapping
from typing import Final, Protocol

from starlette.types import Message, Receive, Scope, Send

from waterclock.domain.access import Caller
from waterclock.domain.errors import WaterclockError
from waterclock.faces.glue import bookmarks, crawlers, jobs, model, runs, tags, triggers, workflows
from waterclock.faces.glue.about import resource_made, resource_of
from waterclock.faces.glue.around import query
from waterclock.faces.glue.around.iam import IAM
from waterclock.faces.glue.around.logs import LOGS
from waterclock.faces.glue.around.sts import STS
from waterclock.faces.glue.aws_service import AwsService, JsonService
from waterclock.faces.glue.errors import BodyTooLarge, BodyTooSlow
from waterclock.faces.glue.protocol import BODY_LIMIT, TARGET_PREFIX, Reply, new_request_id, read_body
from waterclock.faces.glue.services import Handler, Services
from waterclock.faces.http.body import drain
from waterclock.faces.http.exchange import Answer
from waterclock.faces.http.marks import FIELDS, mark, mark_caller, mark_error, mark_resource, request_id_of
from waterclock.faces.sigv4 import Fields, SignedRequest, fields

BODY_SECONDS: Final = 20.0
TARGET: Final = b"x-amz-target"

log = logging.getLogger(__name__)


class Authenticate(Protocol):
    """Who signed the request, for one of these services; `Unauthenticated` where nobody did."""

    async def __call__(
        self, request: SignedRequest, *, services: Collection[str], address: str, request_id: str
    ) -> Caller: ...


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
        await _send(await self._replied(scope, receive, b""), receive, send)

    async def reply(self, scope: Scope, body: bytes) -> Answer:
        """To a request that has arrived whole: nobody need watch the clock."""
        reply = await self._replied(scope, None, body)
        lines = "".join([f"{name}: {value}\r\n" for name, value in reply.headers.items() if name != "connection"])
        closes = "connection" in reply.headers
        return Answer(status=reply.status, headers=lines.encode("latin-1"), body=reply.body, closes=closes)

    async def _replied(self, scope: Scope, receive: Receive | None, body: bytes) -> Reply:
        """Where there is something to receive, that is the body."""
        request_id = request_id_of(scope) or new_request_id()
        found: Fields = scope.get(FIELDS) or fields(scope["headers"])
        service = _service(found)
        mark(scope, face=service.name)
        try:
            body = await self._body(scope, receive) if receive else body
            return await self._answer(service, scope, found, body, request_id)
        except WaterclockError as error:
            refused = service.refusal(error)
            mark_error(scope, refused.name)
            reply = service.failure(refused, request_id=request_id)
            if reply.status >= 500:
                log.error("request %s failed: %s", request_id, error)
            return reply

    async def _answer(self, service: AwsService, scope: Scope, found: Fields, body: bytes, request_id: str) -> Reply:
        if len(body) > self._body_limit:
            raise BodyTooLarge(self._body_limit)
        signed = SignedRequest(
            method=scope["method"],
            raw_path=scope["raw_path"],
            raw_query=scope["query_string"],
            headers=scope["headers"],
            body=body,
            found=found,
        )
        service = service.named_in(body)
        address = scope["client"][0] if scope.get("client") else ""
        caller = await self._authenticate(signed, services=service.scopes, address=address, request_id=request_id)
        mark_caller(scope, caller)
        action = service.action(_text(found.get(TARGET)), body)
        mark(scope, face=service.name, action=action)
        given = service.read(action, body)
        mark_resource(scope, resource_of(given))
        result = await service.handlers[action](self._services, caller, given)
        if made := resource_made(given, result):
            mark_resource(scope, made)
        return service.success(action, result, request_id=request_id)

    async def _body(self, scope: Scope, receive: Receive) -> bytes:
        declared = _text(fields(scope["headers"]).get(b"content-length"))
        try:
            async with asyncio.timeout(self._body_seconds):
                return await read_body(_chunks(receive), declared=declared, limit=self._body_limit)
        except TimeoutError:
            raise BodyTooSlow(f"The request body did not arrive within {self._body_seconds:g} s") from None


def _service(found: Fields) -> AwsService:
    target = _text(found.get(TARGET))
    if target is None:
        is_form = (_text(found.get(b"content-type")) or "").startswith(query.CONTENT_TYPE)
        return QUERY if is_form else GLUE
    return BY_PREFIX.get(target.partition(".")[0], GLUE)


async def _chunks(receive: Receive) -> AsyncIterator[bytes]:
    more = True
    while more:
        message = await _part(receive)
        yield message.get("body", b"")
        more = message.get("more_body", False)


async def _part(receive: Receive) -> Message:
    message = await receive()
    if message["type"] == "http.disconnect":
        raise BodyTooSlow("The caller went away before the request body was complete")
    return message


async def _send(reply: Reply, receive: Receive, send: Send) -> None:
    headers = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in reply.headers.items()]
    headers.append((b"content-length", b"%d" % len(reply.body)))
    await send({"type": "http.response.start", "status": reply.status, "headers": headers})
    if reply.status == 413:
        await send({"type": "http.response.body", "body": reply.body, "more_body": True})
        await drain(receive)
        await send({"type": "http.response.body", "body": b""})
    else:
        await send({"type": "http.response.body", "body": reply.body})


def _text(value: bytes | None) -> str | None:
    return None if value is None else value.decode("latin-1")


HANDLERS: Final[Mapping[str, Handler]] = {
    **jobs.ACTIONS,
    **runs.ACTIONS,
    **bookmarks.ACTIONS,
    **triggers.ACTIONS,
    **workflows.ACTIONS,
    **tags.ACTIONS,
    **crawlers.ACTIONS,
}

GLUE: Final = JsonService(name="glue", prefix=TARGET_PREFIX, model=model.GLUE, handlers=HANDLERS)
QUERY: Final = query.of(STS, IAM)
BY_PREFIX: Final[Mapping[str, AwsService]] = {service.prefix: service for service in (GLUE, LOGS)}
