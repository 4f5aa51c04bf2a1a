"""Gathered calls: shared trips, answers of one's own, failures of one's own."""

import asyncio
from collections.abc import Callable, Sequence

import pytest

from waterclock.domain.errors import InvalidInput, NotFound, Unavailable, WaterclockError
from waterclock.services import gathering
from waterclock.services.gathering import Gathered
from waterclock.stores.base import StatementFailed


class Store:
    """Doubles what it is asked; says what came together, and waits where it is told to."""

    def __init__(self) -> None:
        self.batches: list[list[int]] = []
        self.open = asyncio.Event()
        self.open.set()
        self.failing: dict[int, Exception] = {}  # a batch with this question fails

    async def __call__(self, questions: Sequence[int]) -> Sequence[int | WaterclockError]:
        self.batches.append(list(questions))
        await self.open.wait()
        for question in questions:
            if question in self.failing:
                raise self.failing[question]
        return [NotFound("number", question) if question < 0 else 2 * question for question in questions]


@pytest.fixture
async def store() -> Store:
    return Store()


async def test_what_comes_at_the_same_time_is_asked_once(store: Store) -> None:
    gathered = Gathered(store)
    assert await asyncio.gather(*(gathered(number) for number in range(8))) == [0, 2, 4, 6, 8, 10, 12, 14]
    assert store.batches == [list(range(8))]


async def test_a_lone_caller_is_asked_alone_and_at_once(store: Store) -> None:
    gathered = Gathered(store)
    assert [await gathered(1), await gathered(2)] == [2, 4]
    assert store.batches == [[1], [2]]


async def test_who_was_alone_the_last_time_is_not_kept_waiting_for_company(store: Store) -> None:
    gathered = Gathered(store)
    await gathered(1)
    second = asyncio.create_task(gathered(2))
    await turns(2)
    assert store.batches == [[1], [2]]
    assert await second == 4


async def test_a_crowd_that_has_come_back_waits_for_nobody_else(store: Store) -> None:
    gathered = Gathered(store)
    await asyncio.gather(gathered(1), gathered(2))
    crowd = [asyncio.create_task(gathered(number)) for number in (3, 4)]
    await turns(3)
    assert store.batches == [[1, 2], [3, 4]]
    assert await asyncio.gather(*crowd) == [6, 8]


async def test_what_nobody_foresaw_is_told_to_all_and_holds_up_nobody_behind(store: Store) -> None:
    gathered = Gathered(store)
    store.failing[1] = RuntimeError("a bug")
    answers = await asyncio.gather(gathered(1), gathered(2), return_exceptions=True)
    assert [type(answer) for answer in answers] == [RuntimeError, RuntimeError]
    assert await gathered(3) == 6


async def test_what_comes_meanwhile_is_the_next_batch(store: Store) -> None:
    gathered = Gathered(store)
    store.open.clear()
    first = asyncio.create_task(gathered(1))
    await until(lambda: store.batches == [[1]])
    others = [asyncio.create_task(gathered(number)) for number in (2, 3)]
    await turns(100)
    assert store.batches == [[1]]
    store.open.set()
    assert await asyncio.gather(first, *others) == [2, 4, 6]
    assert store.batches == [[1], [2, 3]]


async def test_a_batch_that_takes_long_does_not_hold_up_those_behind_it(store: Store) -> None:
    gathered = Gathered(store)
    store.open.clear()
    first = asyncio.create_task(gathered(1))
    await until(lambda: len(store.batches) == 1)
    second = asyncio.create_task(gathered(2))
    await until(lambda: len(store.batches) == 2)
    store.open.set()
    assert [await first, await second] == [2, 4]


async def test_a_stream_of_callers_does_not_keep_the_first_waiting(store: Store) -> None:
    gathered = Gathered(store)
    callers = [asyncio.create_task(gathered(0))]
    while not callers[0].done():
        callers.append(asyncio.create_task(gathered(1)))
        await asyncio.sleep(0)
        assert len(callers) < 1_000
    await asyncio.gather(*callers)


async def test_a_refusal_is_for_its_own_caller(store: Store) -> None:
    gathered = Gathered(store)
    good, bad = await asyncio.gather(gathered(1), gathered(-1), return_exceptions=True)
    assert good == 2
    assert isinstance(bad, NotFound)


@pytest.mark.parametrize("problem", [StatementFailed("insert", "too long"), InvalidInput("odd")])
async def test_a_question_that_fails_a_batch_fails_alone(store: Store, problem: Exception) -> None:
    gathered = Gathered(store)
    store.failing[2] = problem
    answers = await asyncio.gather(*(gathered(number) for number in (1, 2, -3)), return_exceptions=True)
    assert answers[:2] == [2, problem]
    assert isinstance(answers[2], NotFound)
    assert sorted(store.batches) == [[-3], [1], [1, 2, -3], [2]]


async def test_a_store_that_does_not_answer_is_not_asked_again(store: Store) -> None:
    gathered = Gathered(store)
    store.failing[1] = Unavailable("gone")
    answers = await asyncio.gather(gathered(1), gathered(2), return_exceptions=True)
    assert [type(answer) for answer in answers] == [Unavailable, Unavailable]
    assert store.batches == [[1, 2]]
    assert await gathered(3) == 6


async def test_whoever_waited_behind_a_store_that_does_not_answer_is_told_so_at_once(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else they would wait twice, once for the others and once for themselves: longer than a caller is promised."""
    monkeypatch.setattr(gathering, "SLOW_SECONDS", 0)
    gathered = Gathered(store)
    store.open.clear()
    before = []
    for number in range(gathering.AT_ONCE):
        store.failing[number] = Unavailable("no answer")
        before.append(asyncio.create_task(gathered(number)))
        await until(lambda number=number: [number] in store.batches)  # type: ignore[misc]
    behind = asyncio.create_task(gathered(10))
    await turns(10)
    monkeypatch.setattr(gathering, "BEHIND_SECONDS", -1)
    store.open.set()
    answers = await asyncio.gather(*before, behind, return_exceptions=True)
    assert {type(answer) for answer in answers} == {Unavailable}
    assert [10] not in store.batches
    assert await gathered(11) == 22


async def test_a_caller_who_goes_away_takes_nobody_along(store: Store) -> None:
    gathered = Gathered(store)
    store.open.clear()
    leaving, staying = asyncio.create_task(gathered(1)), asyncio.create_task(gathered(2))
    await until(lambda: store.batches == [[1, 2]])
    leaving.cancel()
    store.open.set()
    assert await staying == 4
    assert leaving.cancelled()


async def until(done: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not done():
            await asyncio.sleep(0)


async def turns(count: int) -> None:
    for _ in range(count):
        await asyncio.sleep(0)
