"""Calls that come at the same time are done together: one trip to the store serves all of them."""

import asyncio
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass
from typing import Final, Generic, Protocol, TypeVar

from waterclock import clock
from waterclock.domain.errors import Unavailable, WaterclockError
from waterclock.stores.base import StatementFailed

QUIET_TURNS: Final = 4  # of the event loop: some microseconds each while there is nothing to do
MOST_TURNS: Final = 40
SLOW_SECONDS: Final = 0.05  # a batch that takes longer (it waits for somebody's lock) holds up nobody behind it
AT_ONCE: Final = 4
BEHIND_SECONDS: Final = 0.4  # to wait behind a store that does not answer: its own silence takes what is left of 5 s

Q = TypeVar("Q")
A = TypeVar("A")
Q_contra = TypeVar("Q_contra", contravariant=True)
A_co = TypeVar("A_co", covariant=True)


class AnswerAll(Protocol[Q_contra, A_co]):
    """An answer to each question, in their order; a refusal is an answer to its own question only."""

    def __call__(self, questions: Sequence[Q_contra], /) -> Coroutine[None, None, Sequence[A_co | WaterclockError]]: ...


@dataclass(slots=True)
class _Asked(Generic[Q, A]):
    question: Q
    answer: asyncio.Future[A]
    asked_at: float


class Gathered(Generic[Q, A]):
    """A batch is what came until the event loop had nothing else to do, or while the batch before was under way.

    A crowd that was answered together comes back together: once as many are there as there were of late, nobody else
    is waited for. So a lone caller never waits for company.
    """

    def __init__(self, answer_all: AnswerAll[Q, A]) -> None:
        self._answer_all = answer_all
        self._waiting: list[_Asked[Q, A]] = []
        self._under_way = 0
        self._crowd = 2  # so many were answered, or stood behind them, when a batch last ended; at first nobody knows
        self._young: asyncio.TimerHandle | None = None  # the batch that the next one waits for, until it is slow

    async def __call__(self, question: Q) -> A:
        asked: _Asked[Q, A] = _Asked(question, asyncio.get_running_loop().create_future(), clock.monotonic())
        self._waiting.append(asked)
        if len(self._waiting) == 1:
            self._gather()
        try:
            return await asked.answer
        except _FailedTogether as failed:
            # Perhaps something about one of the questions, which is nobody else's fault: each is tried alone.
            (answer,) = await self._answer_all([question])
            if isinstance(answer, WaterclockError):
                raise answer from failed
            return answer

    def _gather(self, seen: int = 0, quiet: int = 0, turns: int = 0) -> None:
        """Look again at every turn of the loop, until some have brought nobody new."""
        if not self._waiting or self._young or self._under_way >= AT_ONCE:
            return  # the end of a batch comes back here
        come = len(self._waiting)
        quiet = quiet + 1 if come == seen else 0
        if come < self._crowd and quiet < QUIET_TURNS and turns < MOST_TURNS:
            asyncio.get_running_loop().call_soon(self._gather, come, quiet, turns + 1)
        else:
            self._begin(asyncio.get_running_loop())

    def _begin(self, loop: asyncio.AbstractEventLoop) -> None:
        batch, self._waiting = self._waiting, []
        self._under_way += 1
        self._young = young = loop.call_later(SLOW_SECONDS, self._is_slow)
        loop.create_task(self._answer(batch, young))

    async def _answer(self, batch: list[_Asked[Q, A]], young: asyncio.TimerHandle) -> None:
        """Callers are told from here, not by whoever hears that this has ended: that would be a turn later."""
        try:
            answers = await self._answer_all([asked.question for asked in batch])
        except (WaterclockError, StatementFailed) as problem:
            if isinstance(problem, Unavailable):
                self._turn_away(problem)
            self._end(batch, young)
            for asked in batch:
                _tell(asked.answer, _shared(problem, len(batch)))
        except BaseException as problem:
            self._end(batch, young)
            for asked in batch:
                _tell(asked.answer, problem)
            raise
        else:
            self._end(batch, young)
            for asked, answer in zip(batch, answers, strict=True):
                _tell(asked.answer, answer)

    def _is_slow(self) -> None:
        self._young = None
        self._gather()

    def _end(self, batch: list[_Asked[Q, A]], young: asyncio.TimerHandle) -> None:
        self._under_way -= 1
        young.cancel()
        if self._young is young:
            self._young = None
        self._crowd = len(batch) + len(self._waiting)
        self._gather()

    def _turn_away(self, problem: Unavailable) -> None:
        """Whoever stood behind a batch that had no answer would wait twice: for that one, and for their own."""
        too_late = clock.monotonic() - BEHIND_SECONDS
        for asked in self._waiting:
            if asked.asked_at < too_late:
                _tell(asked.answer, Unavailable(f"not asked, for others had no answer: {problem}"))
        self._waiting = [asked for asked in self._waiting if asked.asked_at >= too_late]


class _FailedTogether(Exception):
    """Nothing of the batch was done."""


def _shared(problem: Exception, size: int) -> Exception:
    """What each of `size` callers is told; a store that does not answer is the same to all."""
    return problem if size == 1 or isinstance(problem, Unavailable) else _FailedTogether(problem)


def _tell(waiting: "asyncio.Future[A]", answer: A | BaseException) -> None:
    if waiting.done():  # the caller went away
        return
    if isinstance(answer, asyncio.CancelledError):
        waiting.cancel()
    elif isinstance(answer, BaseException):
        waiting.set_exception(answer)
    else:
        waiting.set_result(answer)
