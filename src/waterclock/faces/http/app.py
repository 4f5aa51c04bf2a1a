"""The app that every face hangs in: one table of routes, one place for what no face answers."""

from collections.abc import Callable, Iterable
from typing import Final

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from waterclock import clock
from waterclock.domain.audit import Entry
from waterclock.faces.http.audited import NOT_CALLS, Record, entry_of
from waterclock.faces.http.body import Limited
from waterclock.faces.http.exchange import Answer, Reply, TakeWhole, whole_answer
from waterclock.faces.http.health import Health
from waterclock.faces.http.marks import ACTION, FACE, REQUEST_ID, ROUTINE, new_request_id
from waterclock.faces.http.metrics import Metrics
from waterclock.faces.http.problems import on_http_exception, on_unexpected

BODY_LIMIT: Final = 16 * 1024 * 1024
BODY_SECONDS: Final = 30.0
GLUE_PATHS: Final = frozenset({"/", "/glue"})  # this face reads its bodies itself, and refuses in its own words
FACES: Final = frozenset({"api", "lake", "chains", "healthz", "readyz", "metrics"})


def build_app(
    *,
    glue: ASGIApp,
    health: Health,
    metrics: Metrics,
    routes: Iterable[BaseRoute] = (),
    record: Record | None = None,
    body_limit: int = BODY_LIMIT,
    body_seconds: float = BODY_SECONDS,
) -> "App":
    """`routes` are those of the other faces; each of them sees to its own callers. `record` keeps the audit."""
    others = Starlette(
        routes=[
            *(Route(path, glue, methods=["POST"]) for path in sorted(GLUE_PATHS)),
            *health.routes(),
            *routes,
        ],
        middleware=[Middleware(Limited, most=body_limit, seconds=body_seconds, spare=GLUE_PATHS)],
        exception_handlers={HTTPException: on_http_exception, Exception: on_unexpected},
    )
    return App(glue, others, metrics, record or _keep_nothing)


class App:
    """Gives each request its id; counts it, and records it, before its answer is sent.

    Calls of the Glue face go to it directly: a table of routes and four layers of an app would cost as much again.
    Where that face takes requests that have arrived whole (`reply`), our server hands them to `whole`.
    """

    def __init__(self, glue: ASGIApp, others: Starlette, metrics: Metrics, record: Record) -> None:
        self._glue = glue
        self._others = others
        self._requests = metrics.requests
        self._record = record
        self._reply: Reply | None = getattr(glue, "reply", None)
        self.whole: TakeWhole | None = self._whole if self._reply else None

    @property
    def routes(self) -> list[BaseRoute]:
        return self._others.routes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._others(scope, receive, send)
            return
        scope[REQUEST_ID] = new_request_id()
        began, is_answered = clock.monotonic(), False

        async def observed(message: Message) -> None:
            nonlocal is_answered
            if message["type"] == "http.response.start":
                is_answered = True
                self._observe(scope, message["status"], clock.monotonic() - began)
            await send(message)

        is_glue = scope["path"] in GLUE_PATHS and scope["method"] == "POST"
        try:
            await (self._glue if is_glue else self._others)(scope, receive, observed)
        except Exception as error:
            if not is_answered:
                await (await on_unexpected(Request(scope), error))(scope, receive, observed)
            raise

    async def _whole(self, scope: Scope, body: bytes, send: Callable[[Answer], None]) -> None:
        assert self._reply
        scope[REQUEST_ID] = new_request_id()
        began = clock.monotonic()
        try:
            answer = await self._reply(scope, body)
        except Exception as error:
            self._observe(scope, 500, clock.monotonic() - began)
            send(whole_answer(await on_unexpected(Request(scope), error)))
            raise
        self._observe(scope, answer.status, clock.monotonic() - began)
        send(answer)

    def _observe(self, scope: Scope, status: int, seconds: float) -> None:
        face = scope.get(FACE) or _face_of(scope)
        self._requests[face, scope.get(ACTION, ""), status] += 1
        if face not in NOT_CALLS and not scope.get(ROUTINE):
            self._record(entry_of(scope, face=face, status=status, seconds=seconds))


def _keep_nothing(entry: Entry) -> None:
    """For tests of what has no audit."""


def _face_of(scope: Scope) -> str:
    """Never what the caller wrote: labels must stay few."""
    first: str = scope["path"].partition("/")[2].partition("/")[0]
    return first if first in FACES else "none"
