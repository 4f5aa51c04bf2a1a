"""A worker's way to its servers: one of several is asked, the next where it does not answer; an outage is told once."""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeVar
from urllib.parse import urlsplit

import httpx

from waterclock.app.server_address import read_token, servers_of, token_of
from waterclock.app.server_answers import OlderServer, WrongServer, failure_of
from waterclock.domain.errors import (
    Forbidden,
    InvalidInput,
    NotSent,
    ServerLost,
    Unauthenticated,
    Unavailable,
    WaterclockError,
)
from waterclock.faces.work_codec import decoded, encoded
from waterclock.faces.work_messages import HEADER, PATH, PROTOCOL
from waterclock.settings import LOOPBACK, Settings

log: Final = logging.getLogger("waterclock.worker")
T = TypeVar("T")

CONNECT_SECONDS: Final = 2.0
ANSWER_SECONDS: Final = 5.0
IDLE_SECONDS: Final = 20.0  # of a connection: less than servers keep one
MOST_CONNECTIONS: Final = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """With a server: less than usual where leases are short, so that another can be asked before one runs out."""

    connect_seconds: float
    answer_seconds: float

    @classmethod
    def of(cls, lease_seconds: float) -> "Patience":
        return cls(
            connect_seconds=min(CONNECT_SECONDS, lease_seconds / 6),
            answer_seconds=min(ANSWER_SECONDS, lease_seconds / 2),
        )

    @property
    def seconds(self) -> float:
        return self.connect_seconds + self.answer_seconds


class ServerLine:
    """Asks with `again` are idempotent: they are repeated at the next server. Others are not, once they were sent."""

    def __init__(self, settings: Settings) -> None:
        self._servers = servers_of(settings.server)
        self._token_file = Path(settings.token_file) if settings.token_file else None
        self._token = token_of(settings)
        self.patience = Patience.of(settings.lease_seconds)
        self._http = httpx.AsyncClient(
            headers={HEADER: str(PROTOCOL)},
            limits=httpx.Limits(max_connections=MOST_CONNECTIONS, keepalive_expiry=IDLE_SECONDS),
            # No proxy stands between us and ourselves.
            trust_env=not all(urlsplit(server).hostname in LOOPBACK for server in self._servers),
        )
        self._at = 0  # the server that answered last
        self._is_lost = False
        self.is_patient = False  # whether a refusal is an outage, too: while we run it may be mended
        self.found: Callable[[], None] = lambda: None  # called when a server answers again

    async def close(self) -> None:
        await self._http.aclose()

    async def ask(
        self, path: str, message: object, kind: type[T], *, again: bool = True, unknown: T | None = None
    ) -> T:
        headers = {"content-type": "application/json"}
        return await self.call(
            "POST", path, kind, content=encoded(message), headers=headers, again=again, unknown=unknown
        )

    async def call(
        self,
        method: str,
        path: str,
        kind: type[T],
        *,
        query: Mapping[str, str | int] | None = None,
        content: bytes = b"",
        headers: Mapping[str, str] | None = None,
        again: bool = True,
        patience_seconds: float = 0.0,
        unknown: T | None = None,
    ) -> T:
        """`patience_seconds`: for a question that is answered late on purpose, besides the usual.

        `unknown`: what stands for the answer where the servers that can be reached are too old for the question.
        """
        request = _Request(
            method=method,
            path=f"{PATH}{path}",
            query=dict(query or {}),
            content=content,
            headers=dict(headers or {}),
            seconds=self.patience.answer_seconds + patience_seconds,
        )
        problem: WaterclockError | None = None
        is_older = False
        for _ in range(max(2, len(self._servers))):
            server = self._servers[self._at]
            try:
                answer = self._understood(server, kind, await self._sent(server, request))
                self._answers(server)
                return answer
            except (NotSent, WrongServer) as unsent:
                is_older |= isinstance(unsent, OlderServer)
                problem = problem or unsent
            except Unavailable as failed:
                problem = failed
                if not again:
                    break
            except (Unauthenticated, Forbidden) as refused:
                if not self.is_patient:
                    raise
                problem = refused
                break
        if is_older and unknown is not None:
            return unknown
        raise self._lost(problem)

    async def _sent(self, server: str, request: "_Request") -> httpx.Response:
        """An answer of this server's that says yes; if it gives none, the next call begins with the next one."""
        try:
            response = await self._asked(server, request)
            if response.status_code == 401 and self._token_has_changed():
                response = await self._asked(server, request)
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout) as problem:
            self._pass_over(server)
            raise NotSent(f"no server at {server} ({_words(problem)})") from None
        except (httpx.HTTPError, httpx.InvalidURL, TimeoutError) as problem:
            self._pass_over(server)
            raise ServerLost(f"{server} did not answer ({_words(problem)})") from None
        except asyncio.CancelledError:
            self._pass_over(server)
            raise
        if not response.is_success:
            raise self._failure(server, response)
        return response

    async def _asked(self, server: str, request: "_Request") -> httpx.Response:
        async with asyncio.timeout(self.patience.connect_seconds + request.seconds):
            return await self._http.request(
                request.method,
                f"{server}{request.path}",
                params=request.query,
                content=request.content,
                headers={**request.headers, "authorization": f"Bearer {self._token}"},
                timeout=httpx.Timeout(request.seconds, connect=self.patience.connect_seconds),
            )

    def _understood(self, server: str, kind: type[T], response: httpx.Response) -> T:
        """What was asked may be done, whatever this says: while we run, that is as good as no answer."""
        try:
            return decoded(kind, response.content, strictly=False)
        except InvalidInput as problem:
            self._pass_over(server)
            words = f"{server} answers what no server of ours says ({problem})"
            raise (ServerLost(words) if self.is_patient else WrongServer(words, field="server")) from None

    def _failure(self, server: str, response: httpx.Response) -> WaterclockError:
        failure = failure_of(server, response)
        if isinstance(failure, Unavailable | WrongServer):
            self._pass_over(server)
        return failure

    def _pass_over(self, server: str) -> None:
        """The next one from now on; unless another call has found out already."""
        if self._servers[self._at] == server:
            self._at = (self._at + 1) % len(self._servers)

    def _token_has_changed(self) -> bool:
        """A token that was replaced in its file is used from then on, without a restart."""
        was = self._token
        if self._token_file is not None:
            with contextlib.suppress(InvalidInput):  # it is being replaced at this moment
                self._token = read_token(self._token_file)
        return self._token != was

    # Telling

    def _answers(self, server: str) -> None:
        if self._is_lost:
            self._is_lost = False
            log.info("%s answers", server)
            self.found()

    def _lost(self, problem: WaterclockError | None) -> WaterclockError:
        if isinstance(problem, WrongServer) and not self.is_patient:
            return problem
        if not self._is_lost:
            self._is_lost = True
            log.warning("%s; trying again until a server answers", " ".join(str(problem).split()))
        return problem if isinstance(problem, ServerLost) else ServerLost(str(problem))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Request:
    method: str
    path: str
    query: dict[str, str | int]
    content: bytes
    headers: dict[str, str]
    seconds: float


def _words(problem: Exception) -> str:
    return str(problem) or type(problem).__name__
