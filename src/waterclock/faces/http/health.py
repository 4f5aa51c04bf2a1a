"""`/healthz`: the process lives. `/readyz`: it takes calls. `/metrics`: the numbers, for who may see them."""

import asyncio
import logging
from collections.abc import Callable
from ipaddress import ip_address
from typing import Final

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from waterclock.domain.errors import Unavailable, WaterclockError
from waterclock.faces.http.auth import bearer_token
from waterclock.faces.http.metrics import CONTENT_TYPE, Metrics
from waterclock.faces.http.problems import problem
from waterclock.services.access import Access
from waterclock.services.cluster import Cluster, Status
from waterclock.stores.base import Database
from waterclock.stores.ops.access import count_users

PATIENCE_SECONDS: Final = 3.0

log = logging.getLogger(__name__)


class Health:
    """`is_draining`: whether a load balancer is to send its calls elsewhere."""

    def __init__(
        self,
        database: Database,
        access: Access,
        metrics: Metrics,
        *,
        cluster: Cluster | None = None,
        is_draining: Callable[[], bool] = lambda: False,
    ) -> None:
        self._database = database
        self._access = access
        self._metrics = metrics
        self._cluster = cluster or Cluster(database)
        self._is_draining = is_draining

    def routes(self) -> list[Route]:
        return [
            Route("/healthz", self.alive, methods=["GET"]),
            Route("/readyz", self.ready, methods=["GET"]),
            Route("/metrics", self.numbers, methods=["GET"]),
        ]

    async def alive(self, request: Request) -> Response:
        return PlainTextResponse("ok\n")

    async def ready(self, request: Request) -> Response:
        if self._is_draining():
            return problem(request.scope, 503, "this node is draining: send calls to another")
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                await self._database.read(count_users)
        except (WaterclockError, TimeoutError) as why:
            log.warning("not ready: %r", why)
            return problem(request.scope, 503, "the store does not answer")
        return PlainTextResponse("ok\n")

    async def numbers(self, request: Request) -> Response:
        """Open on the machine itself; from elsewhere a token of any role. A store that is away is a number, too."""
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                if not _local(request) and not await self._known(request):
                    return problem(request.scope, 401, "a bearer token is needed")
        except (Unavailable, TimeoutError):
            return problem(request.scope, 503, "the store does not answer")
        return Response(self._metrics.text(await self._status()), media_type=CONTENT_TYPE)

    async def _status(self) -> Status | None:
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                return await self._cluster.gauged()
        except (WaterclockError, TimeoutError) as why:
            log.warning("no numbers of the store: %r", why)
            return None

    async def _known(self, request: Request) -> bool:
        token = bearer_token(request.scope["headers"])
        return token is not None and await self._access.identity_of(token) is not None


def _local(request: Request) -> bool:
    try:
        return request.client is not None and ip_address(request.client.host).is_loopback
    except ValueError:
        return False
