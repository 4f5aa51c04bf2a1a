"""The ticker of a program hands what it fires to its own workers; what they never heard of goes back."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any, Final, cast

import pytest

from tests.stores.programming import QUEUE, Program
from waterclock.domain.claim import Claimant, Claimed, Taker
from waterclock.domain.errors import Unavailable
from waterclock.domain.library import NAMESPACE, RULES
from waterclock.engine.ticker import Ticker
from waterclock.stores import Database, database_from_url
from waterclock.stores.ops import claiming

SCHEDULER: Final = Claimant(node="scheduler", host="host", queues=(QUEUE,))


class Hands:
    """Room for so many; keeps what it is given."""

    def __init__(self, database: Database, room: int) -> None:
        self.database = database
        self.room = room
        self.taken_: list[Claimed] = []
        self.prepared: list[Claimed] = []
        self.waited = 0

    def takers(self) -> Mapping[str, Taker]:
        taker = Taker(node=SCHEDULER.node, host=SCHEDULER.host, room=self.room, ttl_seconds=60)
        return {QUEUE: taker} if self.room else {}

    def prepare(self, claimed: Sequence[Claimed]) -> None:
        self.prepared += claimed

    async def ready(self, room: int) -> None:
        self.waited += 1

    async def taken(self, claimed: Sequence[Claimed], asked_at: float) -> None:
        self.taken_ += claimed

    async def give_back(self) -> None:
        besides = {each.attempt.id for each in self.taken_}
        await self.database.write(claiming.give_back, claimant=SCHEDULER, besides=besides)


class LosesAnswers:
    """A database whose answer to the next write is lost after the commit."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def write(self, operation: Callable[..., Any], **values: Any) -> Any:
        await self._database.write(operation, **values)
        self.write = self._database.write  # type: ignore[method-assign]
        raise Unavailable("the answer was lost")


@pytest.fixture
async def program() -> AsyncIterator[Program]:
    database = database_from_url("sqlite://")
    await database.open()
    await database.migrate()
    yield await Program.on(database)
    await database.close()


def ticker_of(program: Program, hands: Hands, database: object = None) -> Ticker:
    given = cast(Database, database or program.database)
    return Ticker(given, {NAMESPACE: RULES}, ticker=NAMESPACE, taking=hands)


async def test_what_there_is_room_for_is_taken_and_the_rest_is_left_to_be_claimed(program: Program) -> None:
    await program.add(*(program.job(f"job {number}") for number in range(5)))
    hands = Hands(program.database, room=3)
    await ticker_of(program, hands).tick()
    assert (len(hands.taken_), len(await program.claim())) == (3, 2)


async def test_without_room_all_of_it_is_fired_on_time(program: Program) -> None:
    await program.add(*(program.job(f"job {number}") for number in range(5)))
    hands = Hands(program.database, room=0)
    await ticker_of(program, hands).tick()
    assert (hands.taken_, len(await program.claim())) == ([], 5)


async def test_a_backlog_is_fired_in_batches_side_by_side_as_large_as_there_is_room(program: Program) -> None:
    await program.add(*(program.job(f"job {number:03}") for number in range(650)))
    hands = Hands(program.database, room=300)
    ticker = ticker_of(program, hands)
    first = await ticker.tick()
    assert (first, len(hands.taken_), hands.waited) == (0, 250, 0)
    last = await ticker.tick()
    assert last > 0
    assert hands.waited > 2
    names = [each.attempt.job_name for each in (*hands.taken_, *await program.claim())]
    assert sorted(names) == [f"job {number:03}" for number in range(650)]


async def test_a_fire_whose_answer_was_lost_is_given_back_and_runs_once(program: Program) -> None:
    await program.add(program.job())
    hands = Hands(program.database, room=3)
    ticker = ticker_of(program, hands, LosesAnswers(program.database))
    with pytest.raises(Unavailable):
        await ticker.tick()
    assert await program.claim() == []  # it is the scheduler's, which knows nothing of it
    await ticker.tick()
    (claimed,) = await program.claim()
    assert (claimed.attempt.job_name, hands.taken_) == ("job", [])
