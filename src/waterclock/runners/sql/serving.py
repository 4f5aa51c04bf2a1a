"""What the SQL host does: lines in, orders to executors, and the proof that a query is dead to whoever wants it dead.

It lives while somebody holds a line to it: a worker, or the thin program of a query. When a thin program hangs up, or
asks for it, its query ends: the executor is killed, or the engine told; the answer comes when that is a fact.
"""

import os
import selectors
import socket
from typing import Final

from waterclock import clock
from waterclock.runners import wire
from waterclock.runners.lake import order as orders
from waterclock.runners.sql import door
from waterclock.runners.sql.caller import Caller, CallerState
from waterclock.runners.sql.crew import Crew, Patience
from waterclock.runners.sql.engine import Engine
from waterclock.runners.sql.peer import Peer
from waterclock.runners.sql.query import OutputsOf

_TICK_SECONDS: Final = 0.25


class Host:
    def __init__(
        self,
        listening: socket.socket,
        engine: Engine,
        outputs_of: OutputsOf,
        *,
        warm: int,
        patience: Patience,
    ) -> None:
        self._listening = listening
        self._engine = engine
        self._linger_seconds = patience.linger_seconds
        self._selector = selectors.DefaultSelector()
        self._callers: list[Caller] = []
        self._crew = Crew(self._selector, engine, outputs_of, self._waiting, warm=warm, patience=patience)
        self._held_at = clock.monotonic()
        self._end: str | None = None

    def serve(self) -> None:
        """Until nobody has held a line for a while, or the engine's server has died."""
        self._selector.register(self._listening, selectors.EVENT_READ, lambda _: self._accept())
        if self._engine.server is not None:
            server = os.pidfd_open(self._engine.server)
            self._selector.register(server, selectors.EVENT_READ, lambda _: self._server_died())
        while not self._is_done():
            self._crew.work()
            for key, events in self._selector.select(_TICK_SECONDS):
                if events & selectors.EVENT_READ:
                    key.data(events)
            self._crew.tick()
            self._flush()
            if self._callers or self._crew.has_work:
                self._held_at = clock.monotonic()
        self._leave()

    def _accept(self) -> None:
        try:
            connection, _ = self._listening.accept()
        except OSError:
            return
        program = door.caller_of(connection)
        if program is None:
            connection.close()
            return
        caller = Caller(peer=Peer(connection), program=program)
        self._callers.append(caller)
        self._selector.register(caller.peer, selectors.EVENT_READ, lambda _: self._hear(caller))

    def _hear(self, caller: Caller) -> None:
        for message in caller.peer.heard():
            match message.get("op"):
                case "hold":
                    caller.peer.send({"held": self._engine.title})
                case "run" if caller.state is CallerState.HOLDING:
                    self._take(caller, message)
                case "cancel":
                    self._crew.end_query(caller)
                case _:
                    caller.peer.is_gone = True
        if caller.peer.is_gone:
            self._hang_up(caller)

    def _take(self, caller: Caller, message: wire.Message) -> None:
        try:
            orders.from_plain(message["order"])
            caller.ask(message["order"], message.get("memory_bytes"))
        except (KeyError, TypeError, ValueError) as problem:
            caller.peer.send({"failed": f"the SQL host cannot read its order: {problem!r}", "text": ""})
            return
        self._crew.hear_order()

    def _hang_up(self, caller: Caller) -> None:
        self._selector.unregister(caller.peer)
        caller.peer.close()
        self._callers.remove(caller)
        self._crew.end_query(caller)

    def _flush(self) -> None:
        """Ask to be told when somebody reads again who has not read all."""
        for peer in [*(caller.peer for caller in self._callers), *self._crew.peers]:
            peer.flush()
            events = selectors.EVENT_READ | (selectors.EVENT_WRITE if peer.has_unsent else 0)
            key = self._selector.get_key(peer)
            if key.events != events:
                self._selector.modify(peer, events, key.data)

    def _server_died(self) -> None:
        self._end = "the server of the SQL engine died: the next query starts a new one"

    def _is_done(self) -> bool:
        return self._end is not None or clock.monotonic() - self._held_at > self._linger_seconds

    def _leave(self) -> None:
        """Whoever asks from now on is not heard, and starts another host."""
        self._listening.close()
        self._crew.close()
        for caller in self._callers:
            if self._end and caller.state not in (CallerState.HOLDING, CallerState.TOLD):
                caller.tell_end({"failed": self._end, "text": ""})

    def _waiting(self) -> list[Caller]:
        return [caller for caller in self._callers if caller.state is CallerState.WAITING]
