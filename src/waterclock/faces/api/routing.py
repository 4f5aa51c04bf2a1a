"""Routes from a table, for every face that speaks as `/api/v1` does: the same callers, errors and marks.

They match the path as it was sent: a name may hold a slash, percent-encoded.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import quote, unquote_to_bytes

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Match
from starlette.types import Receive, Scope, Send

from waterclock.domain.errors import NotFound, WaterclockError
from waterclock.faces.api.call import Call, Handler
from waterclock.faces.api.callers import caller_of
from waterclock.faces.api.context import Context
from waterclock.faces.api.errors import OURS, MethodRefused, Wording
from waterclock.faces.http.marks import mark, mark_caller, mark_error, mark_resource


@dataclass(frozen=True, slots=True, kw_only=True)
class Face:
    """Where its paths lie, its own words for fields, where the layers below have others, and how it words errors."""

    name: str
    prefix: str
    fields: Mapping[str, str] = field(default_factory=dict)
    wording: Wording = OURS


def routes_of(face: Face, table: Iterable[tuple[str, str, Handler]], context: Context) -> list[BaseRoute]:
    """For the top of an app. The first that fits serves; the last refuses, typed, whatever else lies there."""
    by_path: dict[str, dict[str, Handler]] = {}
    for method, path, handler in table:
        by_path.setdefault(face.prefix + path, {})[method] = handler
    routes: list[BaseRoute] = [ApiRoute(face, context, path, handlers) for path, handlers in by_path.items()]
    return [*routes, NoSuchPath(face, context)]


class ApiRoute(BaseRoute):
    """One path and the methods it serves; nobody learns more than 401 without a caller."""

    def __init__(self, face: Face, context: Context, path: str, handlers: Mapping[str, Handler]) -> None:
        self.path = path
        self.methods = frozenset(handlers)
        self._face = face
        self._context = context
        self._handlers = handlers
        self._segments = path.split("/")

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        if scope["type"] != "http":
            return Match.NONE, {}
        params = self._params(_sent_path(scope).split("/"))
        return (Match.NONE, {}) if params is None else (Match.FULL, {"path_params": params, "endpoint": self})

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive, send)
        action = f"{request.method} {self.path}" if request.method in self.methods else ""
        mark(scope, face=self._face.name, action=action)
        response = await self._answer(request)
        await response(scope, receive, send)

    async def _answer(self, request: Request) -> Response:
        try:
            caller = await caller_of(request, self._context)
            mark_caller(request.scope, caller)
            mark_resource(request.scope, "/".join(request.path_params.values()))
            handler = self._handler(request)
            response = await handler(Call(context=self._context, caller=caller, request=request))
        except WaterclockError as error:
            mark_error(request.scope, self._face.wording.kind(error))
            return self._face.wording.answer(error, self._face.fields)
        response.headers["x-request-id"] = caller.request_id
        return response

    def _handler(self, request: Request) -> Handler:
        if request.method not in self._handlers:
            raise MethodRefused(request.method, self.methods)
        return self._handlers[request.method]

    def _params(self, sent: Sequence[str]) -> dict[str, str] | None:
        if len(sent) != len(self._segments):
            return None
        params: dict[str, str] = {}
        for ours, theirs in zip(self._segments, sent, strict=True):
            decoded = _decoded(theirs)
            if ours.startswith("{") and decoded:
                params[ours.strip("{}")] = decoded
            elif ours != decoded:
                return None
        return params


class NoSuchPath(ApiRoute):
    def __init__(self, face: Face, context: Context) -> None:
        super().__init__(face, context, f"{face.prefix}/{{rest:path}}", {})

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        path, prefix = _sent_path(scope) if scope["type"] == "http" else "", self._face.prefix
        return (Match.FULL if path == prefix or path.startswith(f"{prefix}/") else Match.NONE), {"endpoint": self}

    def _handler(self, request: Request) -> Handler:
        raise NotFound("path", _sent_path(request.scope))


def _sent_path(scope: Scope) -> str:
    raw = scope.get("raw_path") or quote(scope["path"]).encode()
    return bytes(raw).partition(b"?")[0].decode("ascii", errors="replace")


def _decoded(segment: str) -> str | None:
    """None where the bytes are no text: then it is nobody's name."""
    try:
        return unquote_to_bytes(segment).decode()
    except UnicodeDecodeError:
        return None
