"""The keepers of one supervisor: a few ready in reserve, more when programs wait, none more than are useful."""

import asyncio
import os
import signal
import socket
from collections.abc import Callable
from typing import Final, Protocol

from waterclock import clock
from waterclock.runners import proc, wire
from waterclock.runners.cgroup import Cgroup
from waterclock.runners.proc import Process
from waterclock.runners.supervisor.zygote import Zygote

_RESERVE: Final = 2  # ready before anybody asks
_MOST_IDLE: Final = max(8, 4 * (os.cpu_count() or 1))
_BRISK: Final = max(4, 2 * (os.cpu_count() or 1))  # up to here, grow as fast as the zygote forks
_STALL_SECONDS: Final = 0.02  # beyond: only when no keeper came free for so long, and then more each time
_MOST_AT_ONCE: Final = 16
_FORK_PATIENCE_SECONDS: Final = 10.0


class Listener(Protocol):
    """Who hears what keepers have to say."""

    def keeper_ready(self) -> None: ...

    def keeper_said(self, keeper: "KeeperLink", message: wire.Message) -> None: ...

    def keeper_gone(self, keeper: "KeeperLink") -> None: ...


class KeeperLink(asyncio.Protocol):
    """The supervisor's end of one keeper's line."""

    def __init__(self, pool: "Keepers") -> None:
        self._pool = pool
        self._decoder = wire.Decoder()
        self._transport: asyncio.WriteTransport | None = None
        self.process: Process | None = None
        self.cgroup: Cgroup | None = None
        self.attempt_id: int | None = None  # what it keeps now

    def send(self, message: wire.Message) -> None:
        if self._transport is not None:
            self._transport.write(wire.encode(message))

    def close(self) -> None:
        if self._transport is not None:
            self._transport.close()

    def kill(self) -> None:
        if self.process is not None:
            proc.send_signal(self.process, signal.SIGKILL)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.WriteTransport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._decoder.feed(data)
        for message in self._decoder.messages():
            if "ready" in message:
                pid, started_at, group = message["ready"]
                self.process, self.cgroup = Process(pid, started_at), Cgroup.at(group)
                self._pool.ready(self)
            else:
                self._pool.listener.keeper_said(self, message)

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        self._pool.gone(self)


class Keepers:
    """Take one, give it back; the pool decides how many there are."""

    def __init__(self, zygote: Zygote, listener: Listener, now: Callable[[], float] = clock.monotonic) -> None:
        self.listener = listener
        self._zygote = zygote
        self._now = now
        self._idle: list[KeeperLink] = []
        self._all: set[KeeperLink] = set()
        self._forking: set[KeeperLink] = set()
        self._asked_at = self._freed_at = now()
        self._step = 1
        self._is_closed = False
        self._tasks: set[asyncio.Task[object]] = set()

    def pids(self) -> frozenset[int]:
        return frozenset(keeper.process.pid for keeper in self._all if keeper.process is not None)

    def take(self) -> KeeperLink | None:
        return self._idle.pop() if self._idle else None

    def give_back(self, keeper: KeeperLink) -> None:
        keeper.attempt_id = None
        self._freed_at, self._step = self._now(), 1
        if len(self._idle) >= _MOST_IDLE:
            keeper.close()
        else:
            self._idle.append(keeper)

    def provide(self, waiting: int) -> None:
        """See to it that `waiting` programs get keepers, and that some are in reserve."""
        now = self._now()
        if self._forking and now - self._asked_at > _FORK_PATIENCE_SECONDS:
            self._zygote.replace()
        if self._is_closed or self._forking or not self._wants_more(waiting, now):
            return
        self._asked_at = now
        for _ in range(min(self._step, waiting or 1)):
            self._fork()
        if len(self._all) >= _BRISK:
            self._step = min(2 * self._step, _MOST_AT_ONCE)

    def close(self) -> None:
        self._is_closed = True
        for keeper in self._idle:
            keeper.close()

    def ready(self, keeper: KeeperLink) -> None:
        self._forking.discard(keeper)
        self._all.add(keeper)
        self._idle.append(keeper)
        if self._is_closed:
            keeper.close()
        self.listener.keeper_ready()

    def gone(self, keeper: KeeperLink) -> None:
        self._forking.discard(keeper)
        self._all.discard(keeper)
        if keeper in self._idle:
            self._idle.remove(keeper)
        self.listener.keeper_gone(keeper)

    def _wants_more(self, waiting: int, now: float) -> bool:
        if not waiting and len(self._idle) >= _RESERVE:
            return False
        return len(self._all) < _BRISK or now - max(self._freed_at, self._asked_at) >= _STALL_SECONDS

    def _fork(self) -> None:
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        keeper = KeeperLink(self)
        self._forking.add(keeper)
        self._zygote.fork(theirs.fileno())
        theirs.close()
        task = asyncio.ensure_future(asyncio.get_running_loop().create_connection(lambda: keeper, sock=ours))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
