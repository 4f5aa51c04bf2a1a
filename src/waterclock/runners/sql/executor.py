"""An executor's life: a fork of the host that opens its engine before it is needed, then runs order after order.

Each order has a session of its own, opened while there was nothing else to do. Its `Ear` listens meanwhile: when it is
told to cancel, the query ends at the engine; when the host has gone, so does this process, whatever it is doing.
"""

import contextlib
import os
import queue
import threading
from typing import Final, NoReturn

from waterclock.runners import wire
from waterclock.runners.lake import order as orders
from waterclock.runners.sql.ear import Ear
from waterclock.runners.sql.engine import Engine, EngineMissing, QueryFailed, Session
from waterclock.runners.sql.outputs import OutputFailed
from waterclock.runners.sql.query import OutputsOf, Query
from waterclock.runners.sql.words import text_of

_CANNOT_OPEN: Final = 3


def live(control: int, engine: Engine, outputs_of: OutputsOf, fresh_seconds: float) -> NoReturn:
    """In a fresh fork; `control` is its end of the line to the host."""
    code = 1
    try:
        code = Executor(wire.Line(control), engine, outputs_of, fresh_seconds).serve()
    finally:
        os._exit(code)


class Executor:
    def __init__(self, host: wire.Line, engine: Engine, outputs_of: OutputsOf, fresh_seconds: float) -> None:
        self._host = host
        self._engine = engine
        self._outputs_of = outputs_of
        self._fresh_seconds = fresh_seconds
        self._ear = Ear(host, self._cancel, is_last=engine.dies_with_its_process)
        self._session: Session | None = None
        self._sending = threading.Lock()

    def serve(self) -> int:
        """Until the host hangs up, which the ear hears."""
        self._ear.listen()
        try:
            self._engine.open()
            while True:
                self._session = self._engine.session()
                self._tell({"ready": self._session.id})
                self._run_next(self._session)
        except EngineMissing as missing:
            self._tell({"broken": str(missing)})
        except Exception as error:  # the engine itself, not a query
            self._tell({"broken": text_of(error)})
        return _CANNOT_OPEN

    def _run_next(self, session: Session) -> None:
        """Or leave it to a fresh session: engines forget those that are idle for long."""
        with contextlib.suppress(queue.Empty):
            self._run(self._ear.orders.get(timeout=self._fresh_seconds), session)
        session.close()

    def _run(self, message: wire.Message, session: Session) -> None:
        query = Query(
            orders.from_plain(message["order"]),
            session,
            self._outputs_of,
            tell=self._tell,
            is_cancelled=self._ear.is_cancelled,
        )
        self._tell({"log": f"engine: {self._engine.title}"})
        end = self._ended(query)
        if self._ear.is_cancelled():
            session.settle()
        self._ear.end()
        self._tell(end)

    def _ended(self, query: Query) -> wire.Message:
        try:
            return {"done": {**query.run(), "engine": self._engine.title}}
        except QueryFailed as failed:
            return {"failed": failed.reason, "text": failed.text}
        except OutputFailed as failed:
            return {"failed": str(failed), "text": ""}
        except Exception as error:  # an engine, or an output's library, may raise anything: it is why the query failed
            return {"failed": text_of(error), "text": text_of(error, whole=True)}

    def _cancel(self) -> None:
        if self._session is not None:
            self._session.cancel()

    def _tell(self, message: wire.Message) -> None:
        with self._sending:
            self._host.send(message)
