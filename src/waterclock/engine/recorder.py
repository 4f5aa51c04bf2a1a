"""The recorder: beginnings and ends, gathered while the last write was under way, written in one transaction."""

from collections.abc import Awaitable, Callable, Collection
from itertools import islice
from typing import Final

from waterclock import clock
from waterclock.domain.outcome import Beginning, Lone, Outcome
from waterclock.engine.work import Work

REST_SECONDS: Final = 3600.0  # it is woken when there is something
WAIT_SECONDS: Final = 0.25  # that ends may take, while something is more urgent
GLANCE_SECONDS: Final = 0.02
BATCH: Final = 500  # in one transaction: what a crash may undo stays small, and nobody waits long for its locks


class Recorder:
    """Loses nothing: what could not be written is kept and written with the next round."""

    name = "recorder"

    def __init__(
        self,
        work: Work,
        *,
        stored: Callable[[Collection[int]], Awaitable[None]],
        lost: Callable[[Collection[int]], Awaitable[None]],
        urgent: Callable[[], bool] = lambda: False,
    ) -> None:
        self._work = work
        self._stored = stored  # these ends are durable
        self._lost = lost  # these beginnings are not ours any more
        self._urgent = urgent  # whether others need the store more: what is due and late goes before what has ended
        self._wait_until = 0.0
        self._beginnings: dict[int, Beginning] = {}
        self._outcomes: dict[int, Outcome] = {}
        self._lone: dict[int, Lone] = {}  # of beginnings
        self.wake: Callable[[], None] = lambda: None

    def begun(self, beginning: Beginning, lone: Lone | None = None) -> None:
        self._beginnings[beginning.attempt_id] = beginning
        if lone:
            self._lone[beginning.attempt_id] = lone
        self.wake()

    def ended(self, outcome: Outcome) -> None:
        if not self._outcomes:
            self._wait_until = clock.monotonic() + WAIT_SECONDS
        self._outcomes.setdefault(outcome.attempt_id, outcome)
        self.wake()

    @property
    def idle(self) -> bool:
        return not self._beginnings and not self._outcomes

    async def tick(self) -> float:
        if self._outcomes and not self._beginnings and self._urgent() and clock.monotonic() < self._wait_until:
            return GLANCE_SECONDS
        outcomes = list(islice(self._outcomes.values(), BATCH))
        beginnings = self._with_their_beginnings(outcomes)
        if not beginnings and not outcomes:
            return REST_SECONDS
        await self._work.unbundle([lone for each in beginnings if (lone := self._lone.get(each.attempt_id))])
        lost = await self._work.record(beginnings, outcomes)
        for beginning in beginnings:
            self._beginnings.pop(beginning.attempt_id, None)
            self._lone.pop(beginning.attempt_id, None)
        for outcome in outcomes:
            self._outcomes.pop(outcome.attempt_id, None)
        if lost:
            await self._lost(lost)
        if outcomes:
            await self._stored([outcome.attempt_id for outcome in outcomes])
        return 0.0

    def _with_their_beginnings(self, outcomes: Collection[Outcome]) -> list[Beginning]:
        """Of these ends, whose beginning must not come after them, and as many others as there is room for."""
        ending = [self._beginnings[each.attempt_id] for each in outcomes if each.attempt_id in self._beginnings]
        others = (each for number, each in self._beginnings.items() if number not in self._outcomes)
        return ending + list(islice(others, BATCH))
