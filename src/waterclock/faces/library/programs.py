"""From a claimed attempt of the library to a call: nothing is fetched, installed or written."""

from __future__ import annotations

import asyncio
import itertools
from asyncio import TimerHandle
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Final, Protocol, cast

from waterclock.domain.bookmark import Left
from waterclock.domain.claim import Claimed
from waterclock.domain.errors import CannotRun
from waterclock.domain.masking import NOTHING_TO_MASK, Masks
from waterclock.domain.moment import Moment
from waterclock.domain.outcome import Lone
from waterclock.domain.progress import Said
from waterclock.domain.run import Attempt
from waterclock.executors.base import Call
from waterclock.faces.library.references import Unloadable
from waterclock.runners.base import End, Program

NUMBERS: Final = itertools.count()


@dataclass(slots=True)
class CallProgram(Call):
    """A call in the place of a program: what the engine asks of one, and what its runner knows of it.

    Its number is its own: stores that share an executor, and one that is given an attempt again, have the same ids.
    """

    attempt_id: int = 0
    fence: int = 0
    job_id: str = ""
    run_at: Moment = 0
    timeout_seconds: float | None = None
    job_number: int | None = None  # the job's own, in the store
    lone: Lone | None = None
    log_path: str = ""  # it has none
    given_at: float = 0.0  # to the executor
    thread: int | None = None  # where it runs, once it has begun
    begun_at: float = 0.0
    is_told: bool = False  # the engine knows that it has begun
    end: End | None = None  # why it is to be killed
    timer: TimerHandle | None = None


class CallSource(Protocol):
    def is_at_hand(self, claimed: Claimed) -> bool:
        """Whether nothing of the user's runs to make it: an import may take long, or ask the scheduler something."""
        ...

    def call_of(self, claimed: Claimed) -> CallProgram:
        """`Unloadable` where this process cannot make it."""
        ...


class CallPreparation:
    """Implements the engine's `Preparation`. What cannot be loaded fails its run, and is reported to `unloadable`."""

    def __init__(self, calls: CallSource, unloadable: Callable[[Claimed, Unloadable], None]) -> None:
        self._calls = calls
        self._unloadable = unloadable

    def at_once(self, claimed: Claimed) -> Program | None:
        """None for what is yet to be imported, or cannot be loaded: `prepare`, which is asked next, is asked once."""
        if claimed.program is not None:
            return cast(Program, claimed.program)
        try:
            return cast(Program, self._calls.call_of(claimed)) if self._calls.is_at_hand(claimed) else None
        except Unloadable:
            return None

    async def prepare(self, claimed: Claimed) -> Program:
        try:
            return cast(Program, await asyncio.to_thread(self._calls.call_of, claimed))
        except Unloadable as problem:
            self._unloadable(claimed, problem)
            raise CannotRun(str(problem)) from problem

    async def masks(self, claimed: Claimed) -> Masks:
        return NOTHING_TO_MASK

    def log_path(self, attempt: Attempt) -> str:
        return ""

    def last_words(self, log_path: str, masks: Masks) -> str:
        return ""

    def output(self, log_path: str, masks: Masks) -> str | None:
        return None

    def said(self, log_path: str) -> str | None:
        return None

    def bookmark(self, claimed: Claimed) -> Left:
        return Left()

    def report(self, attempt_id: int) -> Said:
        return Said()

    def set_aside(self, besides: Collection[int]) -> Callable[[], None]:
        """There is nothing on the disk."""
        return lambda: None

    def clean_up(self, attempt_ids: Sequence[int]) -> None:
        """There is nothing on the disk."""
