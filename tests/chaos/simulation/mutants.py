"""Engines that are broken on purpose, one rule each: the simulation that does not notice them proves nothing."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final
from unittest.mock import patch

from waterclock import clock
from waterclock.engine import rescuer
from waterclock.engine.attempt import Attempts
from waterclock.engine.ticker import Ticker
from waterclock.runners.supervisor.renewer import Renewer
from waterclock.stores.base import Tx, Values
from waterclock.stores.ops import claiming, ending, starting, stopping
from waterclock.stores.ops.firing import Fired, fire_due
from waterclock.stores.ops.marking import mark_stopping

ADVANCE: Final = "advance_trigger"


@contextmanager
def fires_and_advances_apart() -> Iterator[None]:
    """The runs in one transaction, the trigger's next instant in another: a crash between them fires twice."""

    class Held:
        """A transaction that keeps back how triggers advance."""

        def __init__(self, tx: Tx, advanced: list[Values]) -> None:
            self._tx, self._advanced = tx, advanced

        def __getattr__(self, name: str) -> Any:
            return getattr(self._tx, name)

        async def run_many(self, name: str, rows: Sequence[Values]) -> int:
            await self.run_together({name: rows})
            return len(rows)

        async def run_together(self, batches: Mapping[str, Sequence[Values]]) -> None:
            self._advanced += batches.get(ADVANCE, ())
            await self._tx.run_together({name: rows for name, rows in batches.items() if name != ADVANCE})

    async def apart(self: Ticker, limit: int, takers: Mapping[str, Any]) -> Fired:
        advanced: list[Values] = []
        fired = await self._database.write(lambda tx: fire_due(Held(tx, advanced), limit=limit, rules=self._rules))
        await self._database.write(lambda tx: tx.run_many(ADVANCE, advanced))
        return fired

    with patch.object(Ticker, "_round", apart):
        yield


@contextmanager
def rescues_at_once() -> Iterator[None]:
    """The moment a lease is over, whatever its processes still need to die."""

    async def hasty(tx: Tx, **given: Any) -> frozenset[int]:
        return await claiming.rescue(tx, **{**given, "margin_seconds": 0.0})

    with patch.object(rescuer, "rescue", hasty):
        yield


@contextmanager
def ends_what_has_ended() -> Iterator[None]:
    """Whoever reports an end is believed: no fence, no table of moves."""
    with patch.object(ending, "_entitled", lambda attempt, outcome: True):
        yield


@contextmanager
def forgets_calls() -> Iterator[None]:
    """A repeated call is a new one."""

    async def forgetful(tx: Tx, answers: Mapping[str, str], now: int) -> Mapping[str, str]:
        return answers

    with patch.object(starting, "remember", forgetful):
        yield


@contextmanager
def counts_leases_from_the_answer() -> Iterator[None]:
    """A worker that was paused in its claim believes that what it was given is still its own."""
    launch = Attempts.launch

    async def trusting(self: Attempts, claimed: Any, asked_at: float) -> None:
        await launch(self, claimed, clock.monotonic())

    with patch.object(Attempts, "launch", trusting):
        yield


@contextmanager
def renews_without_an_answer() -> Iterator[None]:
    """A supervisor that holds on to its programs while the store does not answer."""
    ask = Renewer._ask

    async def stubborn(self: Renewer, pairs: list[tuple[int, int]]) -> frozenset[int] | None:
        found = await ask(self, pairs)
        return frozenset(number for number, _ in pairs) if found is None else found

    with patch.object(Renewer, "_ask", stubborn):
        yield


@contextmanager
def says_stopped_too_early() -> Iterator[None]:
    """A run is STOPPED when it is asked to stop, not when nothing of it is left."""
    end = stopping._end_unclaimed
    asked: list[Any] = []

    async def marking(tx: Tx, rows: Any, now: int) -> None:
        asked[:] = rows
        await mark_stopping(tx, rows, now)

    async def early(tx: Tx, rows: Any, reach: Any, now: int) -> None:
        await end(tx, asked, reach, now)

    with patch.object(stopping, "mark_stopping", marking), patch.object(stopping, "_end_unclaimed", early):
        yield


# Stories as they come find these within a few dozen; the others take hundreds, and have a story of their own.
SOON_FOUND: Final = (
    fires_and_advances_apart,
    ends_what_has_ended,
    forgets_calls,
    counts_leases_from_the_answer,
    says_stopped_too_early,
)
MUTANTS: Final = (*SOON_FOUND, rescues_at_once, renews_without_an_answer)
