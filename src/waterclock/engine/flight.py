"""One attempt in flight: how it becomes a program, and what is made of that program's end."""

import asyncio
import json
import logging
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Final, Protocol

from waterclock import clock
from waterclock.domain.bookmark import Left
from waterclock.domain.chain import KIND as CHAIN
from waterclock.domain.claim import Claimed
from waterclock.domain.errors import Unavailable, WaterclockError
from waterclock.domain.gate import Verdict
from waterclock.domain.job import CALLABLE
from waterclock.domain.lake import PROGRAMS as LAKE
from waterclock.domain.lake_sync import SYNC_KINDS
from waterclock.domain.masking import NOTHING_TO_MASK, Masks
from waterclock.domain.outcome import Outcome
from waterclock.domain.progress import Report, Said
from waterclock.domain.run import Attempt, RunState
from waterclock.engine.verdict import outcome_of, probed, reasoned
from waterclock.runners.base import End, Ended, Program

log: Final = logging.getLogger("waterclock.engine")


class Preparation(Protocol):
    """How a claimed attempt becomes a program, and what is left of it afterwards."""

    def at_once(self, claimed: Claimed) -> Program | None:
        """The program, where nothing has to be fetched or installed; `CannotRun` where it never will be one."""
        ...

    async def prepare(self, claimed: Claimed) -> Program: ...

    async def masks(self, claimed: Claimed) -> Masks:
        """What nobody may see of its output."""
        ...

    def log_path(self, attempt: Attempt) -> str: ...

    def last_words(self, log_path: str, masks: Masks) -> str: ...

    def output(self, log_path: str, masks: Masks) -> str | None:
        """The end of what it printed; None where that cannot be read."""
        ...

    def said(self, log_path: str) -> str | None:
        """The same as it was printed: to be judged, not to be shown."""
        ...

    def bookmark(self, claimed: Claimed) -> Left:
        """What a program that has succeeded left for the next run."""
        ...

    def report(self, attempt_id: int) -> Said:
        """What the program of a lake job says of itself."""
        ...

    def set_aside(self, besides: Collection[int]) -> Callable[[], None]:
        """What is left here of attempts but for these; what is returned removes it, in a thread."""
        ...

    def clean_up(self, attempt_ids: Sequence[int]) -> None:
        """Called in a thread: it waits for the disk."""
        ...


@dataclass(slots=True)
class Flight:
    claimed: Claimed
    leased_until: float  # by our own monotonic clock, from before the claim was sent
    preparing: asyncio.Task[None] | None = None
    log_path: str | None = None
    masks: Masks | None = NOTHING_TO_MASK  # None: not known, so that nothing of its output can be shown
    started: bool = False  # handed to a runner


async def prepared(preparation: Preparation, flight: Flight) -> Program | None:
    """None while the store, which has what it needs, does not answer: no run fails for a moment of that."""
    try:
        program = await preparation.prepare(flight.claimed)
        # After it: a secret that was replaced meanwhile is masked in both versions.
        flight.masks = await preparation.masks(flight.claimed)
    except Unavailable:
        if clock.monotonic() >= flight.leased_until:
            raise
        return None
    return program


async def masks_again(preparation: Preparation, claimed: Claimed) -> Masks | None:
    """Of an attempt that another worker has prepared."""
    try:
        return await preparation.masks(claimed)
    except WaterclockError as problem:
        log.warning("the end of %s will be told without its last words: %s", claimed.attempt.wire_id, problem)
        return None


def outcome(preparation: Preparation, event: Ended, flight: Flight | None) -> Outcome:
    """With the words that it ended with, or with the bookmark that it left."""
    found = outcome_of(event, last_words=_last_words(preparation, event, flight))
    if flight is None:
        return found
    found.run_at = flight.claimed.attempt.run_at
    if flight.claimed.spec.kind == CALLABLE:
        return found
    if flight.claimed.spec.kind == CHAIN:
        return _of_chain(preparation, event, flight, found)
    if flight.claimed.spec.kind in LAKE:
        return _of_lake(preparation, event, flight, found)
    return _with_bookmark(preparation, flight, found)


def verdict_on(claimed: Claimed, problem: Exception) -> Verdict | None:
    """Of a gate's probe that could not be prepared: an error, unless it was the store that did not answer."""
    is_probe = claimed.attempt.probe_until is not None
    return Verdict.ERROR if is_probe and not isinstance(problem, Unavailable) else None


def _of_chain(preparation: Preparation, event: Ended, flight: Flight, found: Outcome) -> Outcome:
    """Every probe's output is evidence; a step's is wanted where it did not succeed."""
    path, masks = flight.log_path, flight.masks
    is_probe = flight.claimed.attempt.probe_until is not None
    if not is_probe and found.state is RunState.SUCCEEDED:
        return found
    shown = None if path is None or masks is None else preparation.output(path, masks)
    if is_probe:
        found = probed(found, event, said=None if path is None else preparation.said(path), shown=shown)
    return replace(found, output=shown)


def _of_lake(preparation: Preparation, event: Ended, flight: Flight, found: Outcome) -> Outcome:
    """With what it said of itself: why it failed goes first."""
    said = preparation.report(event.attempt_id).masked(flight.masks)
    progress = json.dumps(said.progress) if said.progress else None
    found = replace(reasoned(found, event, said.reason), progress=progress)
    return _with_bookmark(preparation, flight, found) if flight.claimed.spec.kind in SYNC_KINDS else found


def _with_bookmark(preparation: Preparation, flight: Flight, found: Outcome) -> Outcome:
    """What a program that failed left is not for the next run."""
    if found.state is not RunState.SUCCEEDED:
        return found
    left = preparation.bookmark(flight.claimed)
    return replace(found, bookmark=left.content, bookmark_refused=left.refused)


def report_of(preparation: Preparation, flight: Flight) -> Report:
    """Of an attempt that runs. Called in a thread: it waits for the disk."""
    attempt = flight.claimed.attempt
    said = preparation.report(attempt.id).masked(flight.masks)
    return Report(attempt_id=attempt.id, fence=attempt.fence, phase=said.phase, progress=said.progress)


def _last_words(preparation: Preparation, event: Ended, flight: Flight | None) -> str:
    failed = event.end is not End.EXITED or event.exit_code != 0
    if not failed or flight is None or flight.log_path is None or flight.masks is None:
        return ""
    return preparation.last_words(flight.log_path, flight.masks)
