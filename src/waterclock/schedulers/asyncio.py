"""A scheduler beside an asyncio event loop: coroutine functions run in that loop."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from waterclock.executors.asyncio import AsyncIOExecutor
from waterclock.executors.base import BaseExecutor
from waterclock.faces.library.configuring import object_at
from waterclock.schedulers.base import BaseScheduler


class AsyncIOScheduler(BaseScheduler):
    """Option `event_loop`: else the one that runs when it starts.

    Firing, claiming and recording happen in the engine's thread and never block the loop. Its methods are
    APScheduler's, and wait for the store as they do there; `aio` has the same ones to await, as in
    `await scheduler.aio.add_job(…)`.
    """

    _eventloop: asyncio.AbstractEventLoop | None = None

    def _configure(self, config: dict[str, Any]) -> None:
        self._eventloop = object_at(config.pop("event_loop", None))
        super()._configure(config)

    @property
    def aio(self) -> Awaited:
        return Awaited(self)

    def start(self, paused: bool = False) -> None:
        self._take_loop()
        super().start(paused)

    def shutdown(self, wait: bool = True) -> None:
        """Called in the event loop it cannot wait for jobs that run there: `await scheduler.aio.shutdown()` does."""
        super().shutdown(wait and not self._is_in_loop())

    def wakeup(self) -> None:
        super().wakeup()

    def _take_loop(self) -> None:
        if self._eventloop is not None and not self._eventloop.is_closed():
            return
        try:
            self._eventloop = asyncio.get_running_loop()
        except RuntimeError:
            raise RuntimeError(
                "An AsyncIOScheduler is started where its event loop runs, in a coroutine; or give it event_loop"
            ) from None

    def _is_in_loop(self) -> bool:
        try:
            return asyncio.get_running_loop() is self._eventloop
        except RuntimeError:
            return False

    def _create_default_executor(self) -> BaseExecutor:
        return AsyncIOExecutor()


class Awaited:
    """A scheduler's methods as coroutines: each is done in a thread, so that the event loop goes on meanwhile."""

    def __init__(self, scheduler: AsyncIOScheduler) -> None:
        self._scheduler = scheduler

    def __getattr__(self, name: str) -> Callable[..., Awaitable[Any]]:
        method = getattr(self._scheduler, name)
        if name.startswith("_") or not callable(method):
            raise AttributeError(f"a scheduler has no method {name!r}")

        async def awaited(*args: Any, **kwargs: Any) -> Any:
            if name == "start":
                self._scheduler._take_loop()
            return await asyncio.to_thread(method, *args, **kwargs)

        return awaited
