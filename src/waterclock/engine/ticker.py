"""The ticker: fires what is due, in batches, and sleeps until the next due instant."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final, Protocol

from waterclock import clock
from waterclock.domain.claim import Claimed, Taker
from waterclock.domain.moment import SECOND
from waterclock.domain.trigger import FireRules
from waterclock.engine.foresight import Foresight
from waterclock.engine.lateness import Lateness
from waterclock.stores.base import Database
from waterclock.stores.ops.firing import NO_TAKERS, Fired, fire_due

BATCH: Final = 1_000
WORTH: Final = 100  # room that is worth a transaction
LEAST: Final = 250  # fired at once where there is less
ENOUGH: Final = 400  # room for a batch of a backlog
ABREAST: Final = 2
IN_A_ROW: Final = 4  # batches of a backlog before anybody else may have a say
LONGEST_REST_SECONDS: Final = 5.0  # the safety net, should a wake-up be lost


class Taking(Protocol):
    """Workers of the same process: what they have room for they take as it is fired, without a claim."""

    def takers(self) -> Mapping[str, Taker]:
        """By queue; none where there is no room."""
        ...

    async def ready(self, room: int) -> None:
        """Wait for so much of it, as long as some is being made: a matter of milliseconds."""
        ...

    def prepare(self, claimed: Sequence[Claimed]) -> None:
        """What they may be given soon, as far as nothing of the user's runs for it."""
        ...

    async def taken(self, claimed: Sequence[Claimed], asked_at: float) -> None: ...

    async def give_back(self) -> None:
        """After a fire whose answer was lost: let go of what it may have taken, and nobody here knows of."""
        ...


class Ticker:
    """Needs no leader: any number of schedulers may tick, each due trigger is fired by one of them."""

    name = "ticker"

    def __init__(
        self,
        database: Database,
        rules: Mapping[str, FireRules],
        *,
        fired: Callable[[Fired], None] | None = None,
        ticker: str = "",
        taking: Taking | None = None,
        lateness: Lateness | None = None,
    ) -> None:
        self._database = database
        self._ticker = ticker  # whose triggers: the cluster's, or those of a library's namespace
        self._rules = rules
        self._fired = fired
        self._taking = taking
        self._lateness = lateness
        self._foresight = Foresight(database, ticker, taking) if taking and ticker else None
        self._unsure = False  # a fire was sent and not answered: it may have been made
        self._doubted = False
        self._abreast = 1

    def doubt(self) -> None:
        """Somebody else may have taken something by the same hand, and not heard of it."""
        self._doubted = True

    @property
    def in_backlog(self) -> bool:
        """More was due than one batch holds: everything that is still to be fired is late."""
        return self._abreast > 1 or bool(self._foresight and self._foresight.is_firing)

    async def tick(self) -> float:
        """One batch; in a backlog several, side by side, so that nobody waits for the other's answer."""
        await self.settle()
        self._unsure = self._taking is not None
        if self._foresight and self._foresight.is_near:
            await self._foresight.fire(self._tell)
            if self._foresight.is_left:
                self._unsure = False
                return 0.0
        asked_at = clock.monotonic()
        lanes = await asyncio.gather(*(self._lane() for _ in range(self._abreast)), return_exceptions=True)
        for each in lanes:
            if isinstance(each, BaseException):
                raise each
        self._unsure = False
        done = [each for each in lanes if isinstance(each, Fired)]
        self._abreast = ABREAST if all(each.more for each in done) else 1
        return min([await self._rest(each, asked_at) for each in done])

    async def _rest(self, fired: Fired, asked_at: float) -> float:
        """The instant is as far away as it was when the round began: what it took since is no reason to be late."""
        if fired.next_due_at is None:
            return LONGEST_REST_SECONDS
        rest = (fired.next_due_at - fired.now) / SECOND - (clock.monotonic() - asked_at)
        if self._foresight:
            rest = await self._foresight.look(fired.next_due_at, rest)
        return min(max(0.0, rest), LONGEST_REST_SECONDS)

    async def settle(self) -> None:
        """Let go of what may have been taken without an answer."""
        while (self._unsure or self._doubted) and self._taking:
            self._doubted = False
            try:
                await self._taking.give_back()
            except BaseException:
                self._doubted = True
                raise
            self._unsure = False

    async def _lane(self) -> Fired:
        """A batch after another while there is a backlog; the first of all alone, and small: it begins the sooner."""
        fired = await self._round()
        for _ in range(IN_A_ROW - 1 if self._abreast > 1 else 0):
            if fired.more:
                fired = await self._round()
        return fired

    def _limit(self, takers: Mapping[str, Taker]) -> int:
        if not self._taking:
            return BATCH
        room = sum(taker.room for taker in takers.values())
        return min(BATCH, room) if room >= WORTH and self._abreast > 1 else LEAST

    async def _round(self) -> Fired:
        if self._taking and self._abreast > 1:
            await self._taking.ready(ENOUGH)
        takers = _share(self._taking.takers(), self._abreast) if self._taking else NO_TAKERS
        limit = self._limit(takers)
        asked_at = clock.monotonic()
        fired = await self._database.write(fire_due, limit=limit, rules=self._rules, ticker=self._ticker, takers=takers)
        await self._tell(fired, asked_at)
        return fired

    async def _tell(self, fired: Fired, asked_at: float) -> None:
        if self._lateness:
            self._lateness.note(fired.late_us, asked_at)
        if fired.claimed and self._taking:
            await self._taking.taken(fired.claimed, asked_at)
        if self._fired and fired.triggers:
            self._fired(fired)


def _share(takers: Mapping[str, Taker], abreast: int) -> Mapping[str, Taker]:
    if abreast == 1:
        return takers
    return {queue: replace(taker, room=taker.room // abreast) for queue, taker in takers.items()}
