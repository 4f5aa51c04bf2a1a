"""The worker's side of the supervisor: the `Runner` that outlives the worker which uses it.

A lost connection is made again, and the supervisor started again where it has gone. What was asked and not answered is
asked again: every request may be repeated, a start too, because the supervisor starts an attempt at most once.
"""

import asyncio
import contextlib
import itertools
import logging
import subprocess
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Final

from waterclock import clock
from waterclock.domain.errors import Unavailable
from waterclock.runners import codec, wire
from waterclock.runners.base import Begun, Event, Program
from waterclock.runners.codec import Order
from waterclock.runners.worker_line import CONNECT_SECONDS, WorkerLine, connect

_LOG = logging.getLogger(__name__)
_RETRY_SECONDS: Final = 0.02
_RESPAWN_SECONDS: Final = 0.5
_REACH_SECONDS: Final = 60.0
_PINGS_PER_LEASE: Final = 6


class SupervisorClient:
    """Use as an async context manager, or call `open` and `close`."""

    def __init__(self, state_dir: Path, spawn: Callable[[], None]) -> None:
        self._state_dir = state_dir
        self._spawn = spawn
        self._ids = itertools.count(1)
        self._asked: dict[int, tuple[wire.Message, asyncio.Future[wire.Message]]] = {}
        self._events: list[Event] = []
        self._news = asyncio.Event()
        self._awaited: set[int] = set()  # started by us, its Begun not yet seen
        self._line: WorkerLine | None = None
        self._connecting = asyncio.Lock()
        self._tasks: set[asyncio.Task[None]] = set()
        self._ttl_seconds = 60.0
        self._heard_at = clock.monotonic()
        self._is_closed = False

    async def __aenter__(self) -> "SupervisorClient":
        await self.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def open(self) -> None:
        await self._connect()
        self._keep(self._ping())

    async def close(self) -> None:
        self._is_closed = True
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._line is not None:
            self._line.close()
        self._news.set()

    def is_silent(self) -> bool:
        """Whether the supervisor has not answered for half a lease: what it is given now might never begin."""
        return clock.monotonic() - self._heard_at > self._ttl_seconds / 2

    async def start(self, programs: Sequence[Program]) -> None:
        orders = [Order(program=program, lease_until=program.lease_until) for program in programs]
        self._awaited.update(program.attempt_id for program in programs)
        await self._ask({"op": "start", "orders": [codec.order_to_plain(order) for order in orders]})

    async def stop(self, attempt_ids: Sequence[int]) -> None:
        await self._ask({"op": "stop", "attempt_ids": list(attempt_ids)})

    async def forget(self, attempt_ids: Sequence[int]) -> None:
        await self._ask({"op": "forget", "attempt_ids": list(attempt_ids)})

    async def held(self) -> Sequence[Begun]:
        answer = await self._ask({"op": "held"})
        return [codec.begun_from_plain(plain) for plain in answer["held"]]

    async def events(self) -> AsyncIterator[Sequence[Event]]:
        while not self._is_closed:
            await self._news.wait()
            self._news.clear()
            batch, self._events = self._events, []
            if batch:
                yield batch

    async def _ask(self, message: wire.Message) -> wire.Message:
        number = next(self._ids)
        message["id"] = number
        future: asyncio.Future[wire.Message] = asyncio.get_running_loop().create_future()
        self._asked[number] = (message, future)
        try:
            if self._line is not None:
                self._line.send(message)
            else:
                await self._connect()
            return await future
        finally:
            del self._asked[number]

    async def _connect(self) -> None:
        """Reach a supervisor, greet it, and repeat what nobody answered."""
        async with self._connecting:
            if self._line is not None:
                return
            line, greeting = await self._reach()
            self._ttl_seconds = greeting["ttl_seconds"]
            self._heard_at = clock.monotonic()
            self._catch_up(greeting)
            self._line = line
            for message, future in list(self._asked.values()):
                if not future.done():
                    line.send(message)

    async def _reach(self) -> "tuple[WorkerLine, wire.Message]":
        """A supervisor that has answered: the one that is there, or else a new one."""
        deadline = clock.monotonic() + _REACH_SECONDS
        spawn_at, pause = 0.0, _RESPAWN_SECONDS
        while clock.monotonic() < deadline:
            with contextlib.suppress(OSError):
                line = await self._dial()
                return line, await line.greet(next(self._ids))
            # More than once: the new one may die before it answers. Ever more rarely: a busy machine needs time, not
            # another interpreter to start.
            if clock.monotonic() >= spawn_at:
                await self._spawn_supervisor()
                spawn_at, pause = clock.monotonic() + pause, 2 * pause
            await asyncio.sleep(_RETRY_SECONDS)
        raise Unavailable(f"the supervisor in {str(self._state_dir)!r} does not answer")

    async def _spawn_supervisor(self) -> None:
        try:
            await asyncio.to_thread(self._spawn)
        except (OSError, subprocess.SubprocessError) as error:
            _LOG.warning("the supervisor cannot be started: %s", error)

    async def _dial(self) -> "WorkerLine":
        connection = connect(self._state_dir)
        loop = asyncio.get_running_loop()
        _, line = await loop.create_unix_connection(lambda: WorkerLine(self._heard, self._lost), sock=connection)
        return line

    def _catch_up(self, greeting: wire.Message) -> None:
        """What we missed: the ends that nobody forgot, and that what we started has begun."""
        held = [codec.begun_from_plain(plain) for plain in greeting["held"]]
        missed: list[Event] = [begun for begun in held if begun.pid and begun.attempt_id in self._awaited]
        missed += [codec.ended_from_plain(plain) for plain in greeting["ended"]]
        self._publish(missed)

    def _heard(self, message: wire.Message) -> None:
        self._heard_at = clock.monotonic()
        if "events" in message:
            self._publish([codec.event_from_plain(plain) for plain in message["events"]])
            return
        _, future = self._asked.get(message["id"], (None, None))
        if future is not None and not future.done():
            future.set_result(message)

    def _publish(self, events: Sequence[Event]) -> None:
        if events:
            self._events += events
            self._awaited.difference_update(event.attempt_id for event in events)
            self._news.set()

    def _lost(self, line: "WorkerLine") -> None:
        if line is self._line:
            self._line = None
            if not self._is_closed:
                _LOG.warning("the supervisor has gone: connecting again")
                self._keep(self._reconnect())

    async def _reconnect(self) -> None:
        """For as long as it takes: what waits for an answer waits with us."""
        while self._line is None:
            try:
                await self._connect()
            except Unavailable as error:
                _LOG.warning("no supervisor: %s", error)
                self._fail_all(error)
                await asyncio.sleep(CONNECT_SECONDS / 15)

    def _fail_all(self, error: Exception) -> None:
        for _, future in self._asked.values():
            if not future.done():
                future.set_exception(Unavailable(str(error)))

    async def _ping(self) -> None:
        """Signs of life, both ways: a worker that gives none for half a lease does not hold its runs."""
        while True:
            await asyncio.sleep(self._ttl_seconds / _PINGS_PER_LEASE)
            if self._line is not None:
                self._line.send({"op": "ping", "id": 0})

    def _keep(self, work: "asyncio.Coroutine[object, object, None]") -> None:  # type: ignore[name-defined]
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
