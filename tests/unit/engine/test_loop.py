"""A loop that is paused finishes its round, begins none, and goes on when it is told to."""

import asyncio

from waterclock.domain.errors import Unavailable
from waterclock.engine.loop import Loop

PATIENCE_SECONDS = 10.0


class Rounds:
    """Each round ends when the test says so; one whose end is an error fails with it."""

    name = "rounds"

    def __init__(self) -> None:
        self.begun: asyncio.Queue[int] = asyncio.Queue()
        self.ends: asyncio.Queue[Exception | None] = asyncio.Queue()
        self._count = 0

    async def tick(self) -> float:
        self._count += 1
        self.begun.put_nowait(self._count)
        if problem := await self.ends.get():
            raise problem
        return 0.001


async def begun(rounds: Rounds) -> int:
    async with asyncio.timeout(PATIENCE_SECONDS):
        return await rounds.begun.get()


async def rests(loop: Loop) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not loop.is_resting:
            await asyncio.sleep(0.001)


async def test_a_paused_loop_finishes_its_round_and_begins_none_until_it_goes_on() -> None:
    rounds = Rounds()
    loop = Loop(rounds)
    loop.start()
    assert await begun(rounds) == 1
    loop.pause()
    resting = loop.is_resting
    assert not resting
    rounds.ends.put_nowait(None)
    await rests(loop)
    loop.wake()  # somebody else's wake-up
    await asyncio.sleep(0)
    await rests(loop)
    assert rounds.begun.empty()
    loop.go_on()
    assert await begun(rounds) == 2
    rounds.ends.put_nowait(None)
    loop.pause()
    await rests(loop)
    await loop.stop()


async def test_a_round_that_failed_is_tried_again_before_a_loop_rests() -> None:
    """Its answer may have been lost: the next round tidies up what it may have done."""
    rounds = Rounds()
    loop = Loop(rounds)
    loop.start()
    assert await begun(rounds) == 1
    loop.pause()
    rounds.ends.put_nowait(Unavailable("no answer"))
    assert await begun(rounds) == 2
    rounds.ends.put_nowait(None)
    await rests(loop)
    assert rounds.begun.empty()
    await loop.stop()


async def test_a_loop_that_was_paused_before_it_started_begins_nothing() -> None:
    rounds = Rounds()
    loop = Loop(rounds)
    loop.pause()
    loop.start()
    await asyncio.sleep(0)
    assert loop.is_resting
    loop.go_on()
    assert await begun(rounds) == 1
    await loop.cancel()


async def test_what_can_wait_rests_before_its_first_round_and_is_woken_like_others() -> None:
    rounds = Rounds()
    loop = Loop(rounds, after_seconds=3600)
    loop.start()
    await asyncio.sleep(0)
    assert rounds.begun.empty()
    loop.wake()
    assert await begun(rounds) == 1
    rounds.ends.put_nowait(None)
    await loop.stop()


async def test_a_loop_is_stopped_while_it_rests_before_its_first_round() -> None:
    rounds = Rounds()
    loop = Loop(rounds, after_seconds=3600)
    loop.start()
    await asyncio.sleep(0)
    async with asyncio.timeout(PATIENCE_SECONDS):
        await loop.stop()
    assert rounds.begun.empty()
