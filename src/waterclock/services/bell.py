"""The bell: whoever asks again with what it was told last is told at once of any wake-up in between.

A wake-up is a hint about the whole store, not about an organisation: it says only that a look may be worth it.
"""

import asyncio
import secrets
from collections.abc import Collection
from dataclasses import dataclass
from functools import partial
from typing import Final

from waterclock.stores.base import Database, Topic

TOPICS: Final = (Topic.ATTEMPTS, Topic.STOPS, Topic.NODES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rung:
    topics: tuple[Topic, ...]
    mark: str  # to be given with the next question


class Bell:
    """Counts the wake-ups that this process hears, from the first question on."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._epoch = secrets.token_hex(8)  # of another process the counts say nothing
        self._counts = dict.fromkeys(TOPICS, 0)
        self._rung = asyncio.Event()
        self._is_listening = False

    async def wait(self, mark: str, seconds: float, stopping: asyncio.Event | None) -> Rung:
        """At once where something has rung since `mark`, or the mark is not ours; at the latest after `seconds`."""
        self._listen()
        found = self._since(mark)
        if not found.topics:
            await _first_of((self._rung, stopping) if stopping else (self._rung,), seconds)
            found = self._since(mark)
        return found

    def _since(self, mark: str) -> Rung:
        now = [str(self._counts[topic]) for topic in TOPICS]
        epoch, *then = mark.split(".")
        known = then if epoch == self._epoch and len(then) == len(now) else [""] * len(now)
        rung = tuple(topic for topic, was, count in zip(TOPICS, known, now, strict=True) if was != count)
        return Rung(topics=rung, mark=".".join((self._epoch, *now)))

    def _listen(self) -> None:
        if not self._is_listening:
            self._is_listening = True
            for topic in TOPICS:
                self._database.listen(topic, partial(self._ring, topic))

    def _ring(self, topic: Topic) -> None:
        self._counts[topic] += 1
        self._rung.set()
        self._rung = asyncio.Event()


async def _first_of(events: Collection[asyncio.Event], seconds: float) -> None:
    waits = [asyncio.ensure_future(event.wait()) for event in events]
    try:
        await asyncio.wait(waits, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for wait in waits:
            wait.cancel()
