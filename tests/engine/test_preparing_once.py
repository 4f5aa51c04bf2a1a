"""A program that cannot be prepared fails its attempt, and is not prepared again behind its back."""

import asyncio
from typing import cast

from tests.engine.conftest import Host
from waterclock.domain.claim import Claimed
from waterclock.domain.errors import CannotRun
from waterclock.domain.run import RunState
from waterclock.engine.flight import Preparation
from waterclock.runners.base import Program


class Refusing:
    """Refuses at once, and would do it if it were asked again."""

    def __init__(self, preparation: Preparation) -> None:
        self._preparation = preparation
        self.asked_again = 0

    def at_once(self, claimed: Claimed) -> Program | None:
        raise CannotRun("no such script")

    async def prepare(self, claimed: Claimed) -> Program:
        self.asked_again += 1
        return cast(Program, self._preparation.at_once(claimed))

    def __getattr__(self, name: str) -> object:
        return getattr(self._preparation, name)


async def test_what_was_refused_is_not_prepared_again(host: Host) -> None:
    ran: list[bool] = []
    host.functions["good"] = lambda: ran.append(True)
    await host.job("job", "good")
    wire_id = await host.start("job")
    refusing = Refusing(host.attempts._preparation)
    host.attempts._preparation = cast(Preparation, refusing)
    await host.dispatcher.tick()
    await asyncio.sleep(0)  # a task that had been made would run now
    await host.attempts.recorder.tick()
    attempt = await host.attempt(wire_id)
    assert (attempt.state, attempt.message) == (RunState.FAILED, "no such script")
    assert (refusing.asked_again, ran) == (0, [])
