"""Foresight: what is due next is made ready before its instant, so that at the instant it is only written and begun."""

import asyncio
import contextlib
import math
import random
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final, Protocol

from waterclock import clock
from waterclock.domain.claim import Claimed, Taker
from waterclock.domain.errors import Unavailable
from waterclock.domain.moment import SECOND, Moment
from waterclock.stores.base import Database, Row
from waterclock.stores.ops.firing import Fired
from waterclock.stores.ops.foreseeing import batched, due_together, foresee, moment, numbers_ahead
from waterclock.stores.ops.volley import NUMBERS_EACH, Volley, volley
from waterclock.stores.ops.volley_firing import Shot, fire_volley

LEAD_SECONDS: Final = 1.5  # before the instant: time for some thousands
LEAST_SECONDS: Final = 0.01  # what is nearer is not worth the look
MOST: Final = 10_000  # made ready for one instant
STEP: Final = 500  # made ready before anybody else may have a say
SIZE: Final = 250  # of a volley at most
FEW: Final = 75  # not worth to be divided: two connections more to be woken take longer than as many rows
LANES: Final = 3
IN_A_ROW: Final = 4  # volleys of a lane, likewise
PATIENCE: Final = 4  # waits for room that bring nothing: the calls are long
EARLY_SECONDS: Final = 0.1  # our idea of the store's clock is no better than this, and no worse
TIMER_SECONDS: Final = 0.001  # a loop's timers count milliseconds: one is early or late by as much
WARM_SECONDS: Final = 0.008  # before the instant: what has rested for a second is slow at first, here and in the store


class Hands(Protocol):
    """Workers of the same process, as far as they can make ready what they are going to be given."""

    def takers(self) -> Mapping[str, Taker]: ...

    async def ready(self, room: int) -> None: ...

    def prepare(self, claimed: Sequence[Claimed]) -> None:
        """As far as nothing of the user's runs for it; what is not prepared is, once it is given."""
        ...


Told = Callable[[Fired, float], Awaitable[None]]  # and the monotonic moment before it was sent


class Foresight:
    """The volleys of the next instant. No lock is held for them: whatever else happens to a trigger goes first."""

    def __init__(self, database: Database, ticker: str, hands: Hands) -> None:
        self._database = database
        self._ticker = ticker
        self._hands = hands
        self._sent: Counter[str] = Counter()  # by queue: fired, perhaps, and not yet with their workers
        self.is_firing = False
        self._forget()

    def _forget(self, due_at: Moment | None = None) -> None:
        """All that is ready; the next is for that instant."""
        self._volleys: list[Volley] = []
        self._due_at = due_at
        self._due_in = math.inf  # by the monotonic clock
        self._left: Sequence[Row] | None = None  # triggers that are still to be made ready; None: nobody has looked
        self._size = SIZE

    @property
    def is_near(self) -> bool:
        """Whether something is ready, and its instant there, or so near that `fire` is to wait for it.

        To fire with care meanwhile would take longer, and be too late for the volleys.
        """
        return bool(self._volleys) and self._due_in - clock.monotonic() <= WARM_SECONDS + 2 * TIMER_SECONDS

    @property
    def is_left(self) -> bool:
        return bool(self._volleys)

    async def look(self, due_at: Moment, until_due: float) -> float:
        """Make ready some of what is due next, if that is soon; how long to rest, where `until_due` seconds are left.

        Only the very next instant is looked at, and whatever becomes due while this goes on is fired in between.
        """
        if until_due > LEAD_SECONDS:
            self._forget()
            return until_due - LEAD_SECONDS
        if until_due <= LEAST_SECONDS:
            return until_due
        if due_at != self._due_at:
            self._forget(due_at)
        self._due_in = clock.monotonic() + until_due
        if self._left is None:
            self._left = await self._database.look_up(due_together, ticker=self._ticker, due_at=due_at, limit=MOST)
            self._size = _size(len(self._left))
        if self._left:
            await self._make_ready(due_at, self._left)
        return 0.0 if self._left else await self._seconds_left(due_at)

    async def _make_ready(self, due_at: Moment, due: Sequence[Row]) -> None:
        """A step of it."""
        takers = self._hands.takers()
        if takers:
            foreseen = await self._database.read(foresee, due=due[:STEP])
            numbers = iter(await self._database.write(numbers_ahead, count=NUMBERS_EACH * len(foreseen)))
            made = [volley(some, due_at, takers, numbers) for some in batched(foreseen, self._size)]
            ready = [each for each in made if each]
            self._volleys += ready
            for each in ready:
                self._hands.prepare(each.claimed)
        self._left = due[STEP:]
        if self._volleys and not self._left:
            await self._rehearse(due_at)
            random.shuffle(self._volleys)  # schedulers beside this one have the same: let them begin elsewhere

    async def _rehearse(self, due_at: Moment) -> None:
        """A lane each, with what can never be fired: what a connection is asked for the first time, or planned too long
        ago, takes long."""
        never = [replace(each, until=0) for each in self._volleys[:LANES]]
        await asyncio.gather(*(self._database.write(fire_volley, volley=each, about=due_at) for each in never))

    async def _seconds_left(self, due_at: Moment) -> float:
        """Counted from the answer: late by its way here, and never early, for then it would have to be sent again.

        The rest is less than that, so that no timer is late: the last milliseconds are waited for by `fire`.
        """
        now = await self._database.look_up(moment)
        left = (due_at - now) / SECOND
        self._due_in = clock.monotonic() + left
        return left - WARM_SECONDS - TIMER_SECONDS

    async def fire(self, told: Told) -> None:
        """At the instant, in lanes, side by side; what cannot be fired like this is left to whoever fires with care."""
        await asyncio.gather(self._warm_up(), self._fire(told))

    async def _warm_up(self) -> None:
        """Ask what is going to be asked, if there is time for it: there is none for what many are about, which was
        rehearsed when it was made ready. Nobody waits for it, and who fires tells of what is wrong."""
        is_time = self._due_in - clock.monotonic() > WARM_SECONDS / 2
        if self._due_at is not None and is_time and sum(map(len, self._volleys)) <= SIZE:
            with contextlib.suppress(Unavailable):
                await self._rehearse(self._due_at)

    async def _fire(self, told: Told) -> None:
        await _wait_until(self._due_in)
        self.is_firing = True
        try:
            lanes = await asyncio.gather(*(self._lane(told) for _ in range(LANES)), return_exceptions=True)
        finally:
            self.is_firing = False
        for each in lanes:
            if isinstance(each, BaseException):
                self._forget()
                raise each

    async def _lane(self, told: Told) -> None:
        for _ in range(IN_A_ROW):
            if not self._volleys:
                return
            made = self._volleys.pop()
            if await self._has_room(made):
                await self._send(made, told)
            else:
                self._volleys = []

    async def _has_room(self, made: Volley) -> bool:
        """After a wait, as long as calls end, or are still to begin."""
        waited = 0
        while not self._fits(made):
            if waited >= PATIENCE and not self._sent.total():
                return False
            waited += 1
            await self._hands.ready(self._sent.total() + len(made))
        return True

    def _fits(self, made: Volley) -> bool:
        room = {queue: taker.room - self._sent[queue] for queue, taker in self._hands.takers().items()}
        return all(room.get(queue, 0) >= count for queue, count in made.queues.items())

    async def _send(self, made: Volley, told: Told) -> None:
        self._sent += made.queues
        try:
            asked_at = clock.monotonic()
            shot = await self._shoot(made, asked_at)
            early = (made.due_at - shot.now) / SECOND
            if 0 < early < EARLY_SECONDS:
                await _wait_until(clock.monotonic() + early)
                asked_at = clock.monotonic()
                shot = await self._shoot(made, asked_at)
            if shot.is_fired:
                for bundle in made.bundles:
                    bundle.created_at = shot.now
                await told(_fired(made, shot.now), asked_at)
        finally:
            self._sent -= made.queues

    async def _shoot(self, made: Volley, at: float) -> Shot:
        about = made.due_at + max(0, round((at - self._due_in) * SECOND))
        return await self._database.write(fire_volley, volley=made, about=about)


async def _wait_until(moment: float) -> None:
    """By the monotonic clock, and not before; others have their turns meanwhile, but the last timer is not rested."""
    while (left := moment - clock.monotonic()) > 0:
        await asyncio.sleep(max(0.0, left - TIMER_SECONDS))


def _fired(made: Volley, now: Moment) -> Fired:
    return Fired(
        triggers=len(made),
        runs=len(made.claimed),
        next_due_at=None,
        now=now,
        exhausted=tuple(made.exhausted),
        claimed=tuple(made.claimed),
        late_us=(now - made.due_at,) * len(made),
    )


def _size(due: int) -> int:
    """Of each volley: so that every lane has one, if they are many."""
    return min(SIZE, due if due <= FEW else -(-due // LANES))
