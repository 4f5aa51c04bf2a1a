"""The servers that a store's URL names: one of them takes writes, and the first such that answers is used."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, Generic, TypeVar

from waterclock import clock
from waterclock.stores.server import BORROW_SECONDS

S = TypeVar("S")
C = TypeVar("C")

# For all of them together; a little less than whoever waits for a connection has, so that he hears the reasons.
CONNECT_SECONDS: Final = BORROW_SECONDS - 0.2

log: Final = logging.getLogger("waterclock.stores")


class ReadOnly(ConnectionError):
    """It answers, and only follows another: of no use to a process that writes."""

    def __init__(self) -> None:
        super().__init__("is read-only")


class Nowhere(ConnectionError):
    """None of them will do: each with its reason."""


class Places(Generic[S]):
    """`servers` in the order of the URL, each with the name that it is shown by: no password is in that.

    A process is at one of them at a time: `moved` is called when a connection goes to another than the one before.
    """

    def __init__(
        self,
        servers: Sequence[tuple[str, S]],
        problems: tuple[type[Exception], ...],
        moved: Callable[[], Awaitable[None]],
    ) -> None:
        self._servers = servers
        self._problems = problems
        self._moved = moved
        self._at: str | None = None

    @property
    def several(self) -> bool:
        return len(self._servers) > 1

    async def first(self, connect: Callable[[S], Awaitable[C]]) -> C:
        """What `connect` makes of the first that it succeeds with; a silent one leaves time for those after it."""
        until = clock.monotonic() + CONNECT_SECONDS
        reasons: list[str] = []
        for tried, (name, server) in enumerate(self._servers):
            share = (until - clock.monotonic()) / (len(self._servers) - tried)
            try:
                async with asyncio.timeout(share):
                    connection = await connect(server)
            except self._problems as problem:
                reasons.append(f"{name}: {_reason(problem)}")
            else:
                await self._use(name, reasons)
                return connection
        raise Nowhere("; ".join(reasons))

    async def _use(self, name: str, passed_over: Sequence[str]) -> None:
        before, self._at = self._at, name
        if name == before or not (before or passed_over):
            return
        was = f", it was at {before}" if before else ""
        why = f" ({'; '.join(passed_over)})" if passed_over else ""
        log.warning("the store is at %s now%s%s", name, was, why)
        if before:
            await self._moved()


def _reason(problem: BaseException) -> str:
    return str(problem) or "did not answer in time"
