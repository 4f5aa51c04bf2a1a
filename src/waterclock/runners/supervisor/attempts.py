"""The attempts that a supervisor answers for: from the order to the moment it may forget them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from waterclock.runners.base import Begun, End, Ended
from waterclock.runners.codec import Order
from waterclock.runners.proc import Process
from waterclock.runners.supervisor import journal
from waterclock.runners.supervisor.journal import Record


@dataclass(slots=True, kw_only=True, eq=False)
class Attempt:
    """One program under one fence."""

    attempt_id: int
    fence: int
    token: list[str]
    lease_until: float
    order: Order | None = None  # until it is handed to a keeper
    keeper: Process | None = None
    begun: Begun | None = None
    ended: Ended | None = None
    told_at: float = 0.0
    foretold: Ended | None = None  # by a keeper that is about to die with all it keeps
    is_refused: bool = False  # the store says that it is no longer ours

    @property
    def is_alive(self) -> bool:
        return self.ended is None

    def end(self, how: End, message: str | None = None) -> Ended:
        """An end that no keeper can tell."""
        return Ended(attempt_id=self.attempt_id, fence=self.fence, end=how, message=message)

    def presence(self) -> Begun:
        """For a worker that adopts it; a process that never was has number 0."""
        return self.begun or Begun(attempt_id=self.attempt_id, fence=self.fence, pid=0, pid_started_at=0)

    def records(self) -> Iterator[Record]:
        """All that the journal must know of it."""
        yield journal.started(self.attempt_id, self.fence, self.token)
        if self.keeper is not None:
            yield journal.given(self.attempt_id, self.keeper)
        if self.begun is not None:
            yield journal.begun(self.begun)
        if self.ended is not None:
            yield journal.ended(self.ended)


class Attempts:
    """All of them, by number."""

    def __init__(self) -> None:
        self._all: dict[int, Attempt] = {}

    def __iter__(self) -> Iterator[Attempt]:
        return iter(list(self._all.values()))

    def __len__(self) -> int:
        return len(self._all)

    def get(self, attempt_id: int) -> Attempt | None:
        return self._all.get(attempt_id)

    def add(self, attempt: Attempt) -> None:
        self._all[attempt.attempt_id] = attempt

    def forget(self, attempt_ids: Sequence[int]) -> list[int]:
        """Only what has ended can be forgotten: nothing alive is ever out of sight."""
        ended = [number for number in attempt_ids if number in self._all and not self._all[number].is_alive]
        for number in ended:
            del self._all[number]
        return ended

    def alive(self) -> list[Attempt]:
        return [attempt for attempt in self._all.values() if attempt.is_alive]

    def ended(self) -> list[Ended]:
        return [attempt.ended for attempt in self._all.values() if attempt.ended is not None]

    def records(self) -> Iterator[Record]:
        for attempt in self:
            yield from attempt.records()
