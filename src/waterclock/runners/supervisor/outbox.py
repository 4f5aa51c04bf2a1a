"""What leaves the supervisor: gathered over one turn of the loop, and sent only behind its line in the journal.

One write to the journal, then the orders to keepers, then one batch to the workers: a thousand runs a second cost a
few hundred writes, and nothing has an effect that a successor could not know of.
"""

import asyncio
import logging
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from waterclock.runners import wire
from waterclock.runners.base import Event
from waterclock.runners.supervisor.journal import Journal, Record
from waterclock.runners.supervisor.keepers import KeeperLink

_LOG = logging.getLogger(__name__)
_JOURNAL_RETRY_SECONDS: Final = 1.0


class Outbox:
    """Put things in; they go out together when the loop turns."""

    def __init__(
        self, book: Journal, tell: Callable[[Sequence[Event]], None], everything: Callable[[], Iterator[Record]]
    ) -> None:
        self._journal = book
        self._tell = tell
        self._everything = everything  # all records that a new journal must begin with
        self._to_keepers: list[tuple[KeeperLink, wire.Message]] = []
        self._to_workers: list[Event] = []
        self._afterwards: list[Callable[[], None]] = []
        self._is_due = False

    def record(self, record: Record) -> None:
        self._journal.add(record)
        self._flush_soon()

    def to_keeper(self, keeper: KeeperLink, message: wire.Message) -> None:
        self._to_keepers.append((keeper, message))
        self._flush_soon()

    def to_workers(self, event: Event) -> None:
        self._to_workers.append(event)
        self._flush_soon()

    def afterwards(self, callback: Callable[[], None]) -> None:
        """Once what was put in so far is in the journal."""
        self._afterwards.append(callback)
        self._flush_soon()

    def close(self) -> None:
        self._flush()
        self._journal.close()

    def _flush_soon(self) -> None:
        if not self._is_due:
            self._is_due = True
            asyncio.get_running_loop().call_soon(self._flush)

    def _flush(self) -> None:
        """Starts, and answers that promise one, wait for the journal; nothing that ends a program ever waits."""
        self._is_due = False
        is_written = self._write_journal()
        messages, self._to_keepers = self._to_keepers, []
        for keeper, message in messages:
            if is_written or "run" not in message:
                keeper.send(message)
            else:
                self._to_keepers.append((keeper, message))
        events, self._to_workers = self._to_workers, []
        if events:
            self._tell(events)
        if is_written:
            callbacks, self._afterwards = self._afterwards, []
            for callback in callbacks:
                callback()

    def _write_journal(self) -> bool:
        try:
            self._journal.flush()
            if self._journal.is_large:
                self._journal.begin_anew(self._everything())
        except OSError as error:
            _LOG.error("the journal cannot be written, nothing is started: %s", error)
            asyncio.get_running_loop().call_later(_JOURNAL_RETRY_SECONDS, self._flush)
            return False
        return True
