"""The ticker of a program makes ready what is due next; at the instant it is fired by volleys, or else with care."""

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any, Final, cast

import pytest

from tests.stores.programming import QUEUE, Program
from waterclock import clock
from waterclock.domain.claim import Claimant, Claimed, Taker
from waterclock.domain.errors import Unavailable
from waterclock.domain.library import NAMESPACE, RULES
from waterclock.domain.moment import SECOND
from waterclock.engine import foresight
from waterclock.engine.ticker import LONGEST_REST_SECONDS, Ticker
from waterclock.stores import Database, database_from_url
from waterclock.stores.base import Operation
from waterclock.stores.ops import claiming
from waterclock.stores.ops.volley_firing import fire_volley

SCHEDULER: Final = Claimant(node="scheduler", host="host", queues=(QUEUE,))


class Hands:
    """Room for so many; keeps what it is given."""

    def __init__(self, database: Database, room: int = 1_000) -> None:
        self.database = database
        self.room = room
        self.prepared: list[Claimed] = []
        self.given: list[Claimed] = []

    def takers(self) -> Mapping[str, Taker]:
        taker = Taker(node=SCHEDULER.node, host=SCHEDULER.host, room=self.room, ttl_seconds=60)
        return {QUEUE: taker} if self.room > 0 else {}

    async def ready(self, room: int) -> None:
        pass

    def prepare(self, claimed: Sequence[Claimed]) -> None:
        self.prepared += claimed

    async def taken(self, claimed: Sequence[Claimed], asked_at: float) -> None:
        self.given += claimed
        self.room -= len(claimed)

    async def give_back(self) -> None:
        besides = {each.attempt.id for each in self.given}
        await self.database.write(claiming.give_back, claimant=SCHEDULER, besides=besides)

    def names(self) -> list[str]:
        return sorted(each.attempt.job_name for each in self.given)


class Watched:
    """A database that knows which volleys it was given, and may lose the answer to one, or not take one."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.shots: list[bool] = []  # whether each was fired
        self.rehearsals = 0
        self.loses = False
        self.fails = False  # the next one, and only that

    async def write(self, operation: Operation[Any, Any], **values: Any) -> Any:
        if operation is fire_volley and self.fails:
            self.fails = False
            raise Unavailable("the connection was closed")
        answer = await self._database.write(operation, **values)
        if operation is fire_volley and not values["volley"].until:
            self.rehearsals += 1
            assert not answer.is_fired
        elif operation is fire_volley:
            self.shots.append(answer.is_fired)
            if self.loses and answer.is_fired:
                raise Unavailable("the answer was lost")
        return answer

    def __getattr__(self, name: str) -> Any:
        return getattr(self._database, name)


class Scene:
    """A program whose jobs are due in a second, and its ticker; time passes when it is told to."""

    def __init__(self, program: Program, passes: list[float]) -> None:
        self.program = program
        self.hands = Hands(program.database)
        self.database = Watched(program.database)
        self.ticker = Ticker(cast(Database, self.database), {NAMESPACE: RULES}, ticker=NAMESPACE, taking=self.hands)
        self._passes = passes

    def pass_time(self, seconds: float) -> None:
        """For the store and for us."""
        self._passes[0] += seconds
        self.program.pass_time(seconds)

    async def rest_until_due(self) -> None:
        """Tick until there is nothing left to do, and then as long as the ticker said, and a moment more."""
        await self.rest_as_told()
        self.pass_time(foresight.WARM_SECONDS + 2 * foresight.TIMER_SECONDS)

    async def rest_as_told(self) -> None:
        while (rest := await self.ticker.tick()) == 0:
            pass
        self.pass_time(rest)


@pytest.fixture
async def scene(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Scene]:
    passed, monotonic = [0.0], clock.monotonic
    monkeypatch.setattr(clock, "monotonic", lambda: monotonic() + passed[0])
    database = database_from_url("sqlite://")
    await database.open()
    await database.migrate()
    program = await Program.on(database)
    program.pass_time(-11)
    yield Scene(program, passed)
    await database.close()


async def test_what_is_due_next_is_made_ready_and_fired_at_its_instant(scene: Scene) -> None:
    await scene.program.add(scene.program.until_now(name="once"), scene.program.job("again"))
    await scene.rest_until_due()
    assert (len(scene.hands.prepared), scene.hands.given) == (2, [])
    await scene.ticker.tick()
    assert (scene.database.shots, scene.hands.names()) == ([True], ["again", "once"])
    assert [each.attempt.id for each in scene.hands.given] == [each.attempt.id for each in scene.hands.prepared]


async def test_a_timer_that_is_early_is_waited_for_and_nothing_is_fired_with_care_meanwhile(scene: Scene) -> None:
    await scene.program.add(scene.program.until_now(name="once"), scene.program.job("again"))
    await scene.rest_as_told()
    scene.pass_time(foresight.WARM_SECONDS)
    await scene.ticker.tick()
    assert (scene.database.shots, scene.hands.names()) == ([True], ["again", "once"])


async def test_a_volley_is_rehearsed_right_before_its_instant_and_fired_at_it(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(foresight, "WARM_SECONDS", 0.5)  # enough for the slowest machine to be early
    await scene.program.add(scene.program.until_now(name="once"), scene.program.job("again"))
    await scene.rest_as_told()
    assert (scene.database.rehearsals, scene.database.shots) == (1, [])  # what was not asked lately takes long
    await scene.ticker.tick()
    assert (scene.database.rehearsals, scene.database.shots) == (2, [True])
    assert scene.hands.names() == ["again", "once"]


async def test_many_are_rehearsed_once_and_not_again_when_there_is_no_time_left(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {"WARM_SECONDS": 0.5, "STEP": 20, "SIZE": 10}.items():
        monkeypatch.setattr(foresight, name, value)
    await scene.program.add(*(scene.program.until_now(name=f"job {number:03}") for number in range(30)))
    await scene.rest_as_told()
    while await scene.ticker.tick() == 0:
        pass
    assert (scene.database.rehearsals, scene.database.shots) == (3, [True] * 3)


async def test_a_rehearsal_that_fails_is_no_reason_not_to_fire(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(foresight, "WARM_SECONDS", 0.5)
    await scene.program.add(scene.program.job())
    await scene.rest_as_told()
    scene.database.fails = True
    await scene.ticker.tick()
    assert (scene.database.fails, scene.database.shots, scene.hands.names()) == (False, [True], ["job"])


async def test_many_are_made_ready_bit_by_bit_and_fired_in_volleys(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(foresight, "STEP", 20)
    monkeypatch.setattr(foresight, "SIZE", 10)
    names = [f"job {number:03}" for number in range(150)]
    await scene.program.add(*(scene.program.until_now(name=name) for name in names))
    await scene.rest_until_due()
    assert (scene.database.rehearsals, scene.database.shots) == (3, [])
    while await scene.ticker.tick() == 0:
        pass
    assert scene.database.shots == [True] * 15
    assert (scene.hands.names(), await scene.program.names()) == (names, [])


async def test_as_many_are_made_ready_as_may_be_in_volleys_that_are_full(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {"STEP": 30, "SIZE": 15, "MOST": 90}.items():
        monkeypatch.setattr(foresight, name, value)
    await scene.program.add(*(scene.program.until_now(name=f"job {number:03}") for number in range(100)))
    await scene.rest_until_due()
    assert len(scene.hands.prepared) == 90
    while await scene.ticker.tick() == 0:
        pass
    assert scene.database.shots == [True] * 6  # the other ten are fired with care
    assert len(scene.hands.given) == 100


async def test_what_is_far_away_is_not_looked_at_and_the_ticker_comes_back_before_its_instant(scene: Scene) -> None:
    scene.program.due += 3 * SECOND
    await scene.program.add(scene.program.job())
    rest = await scene.ticker.tick()
    assert 0 < rest < 4 - foresight.LEAD_SECONDS
    assert scene.hands.prepared == []
    scene.program.due += 3600 * SECOND
    await scene.program.change("job", next_fire_at=scene.program.due)
    assert await scene.ticker.tick() == LONGEST_REST_SECONDS


async def test_what_was_added_after_the_look_is_fired_with_it(scene: Scene) -> None:
    await scene.program.add(scene.program.job("first"))
    await scene.ticker.tick()
    await scene.program.add(scene.program.job("second"))
    await scene.rest_until_due()
    await scene.ticker.tick()
    assert (scene.database.shots, scene.hands.names()) == ([True], ["first", "second"])


async def test_what_becomes_due_before_it_is_fired_in_between(scene: Scene) -> None:
    await scene.program.add(scene.program.job("first"))
    await scene.ticker.tick()
    sooner = scene.program.job("sooner", since=1)
    await scene.program.add(sooner)
    await scene.rest_until_due()
    assert scene.hands.names() == ["sooner"]
    await scene.ticker.tick()
    assert (scene.database.shots, scene.hands.names()) == ([True], ["first", "sooner"])


async def test_what_was_changed_meanwhile_is_fired_with_care(scene: Scene) -> None:
    await scene.program.add(scene.program.job("a"), scene.program.job("b"), scene.program.job("c"))
    await scene.rest_until_due()
    await scene.program.change_spec("a", call={"func": "module:other"})
    await scene.program.remove("c")
    await scene.ticker.tick()
    assert (scene.database.shots, scene.hands.names()) == ([False], ["a", "b"])
    called = {each.attempt.job_name: each.spec.call for each in scene.hands.given}
    assert called["a"] == {"func": "module:other"}


async def test_without_room_for_it_a_volley_is_left_to_whoever_fires_with_care(scene: Scene) -> None:
    await scene.program.add(scene.program.job("a"), scene.program.job("b"))
    await scene.rest_until_due()
    scene.hands.room = 1
    await scene.ticker.tick()
    assert (scene.database.shots, len(scene.hands.given)) == ([], 1)
    (claimed,) = await scene.program.claim()
    assert {claimed.attempt.job_name, *scene.hands.names()} == {"a", "b"}


async def test_an_executor_that_was_removed_meanwhile_takes_nothing(scene: Scene) -> None:
    await scene.program.add(scene.program.job())
    await scene.rest_until_due()
    scene.hands.room = 0
    await scene.ticker.tick()
    assert (scene.database.shots, scene.hands.given, len(await scene.program.claim())) == ([], [], 1)


async def test_a_volley_whose_answer_was_lost_is_given_back_and_runs_once(scene: Scene) -> None:
    await scene.program.add(scene.program.until_now(name="once"), scene.program.job("again"))
    await scene.rest_until_due()
    scene.database.loses = True
    with pytest.raises(Unavailable):
        await scene.ticker.tick()
    assert (scene.hands.given, await scene.program.claim()) == ([], [])  # nobody knows of them
    scene.database.loses = False
    await scene.ticker.tick()
    names = sorted(each.attempt.job_name for each in await scene.program.claim())
    assert (names, scene.hands.given) == (["again", "once"], [])


async def test_a_process_that_stood_still_fires_late_once_and_a_second_one_has_fired_for_it(scene: Scene) -> None:
    await scene.program.add(scene.program.job("a"))
    await scene.rest_until_due()
    await scene.program.fire()  # another scheduler
    scene.pass_time(20)
    await scene.ticker.tick()
    assert (scene.database.shots, scene.hands.given, len(await scene.program.claim())) == ([False], [], 1)


async def test_a_store_whose_clock_was_set_back_is_not_waited_for(scene: Scene) -> None:
    await scene.program.add(scene.program.job("a"))
    await scene.rest_until_due()
    scene.program.pass_time(-3600)
    assert await scene.ticker.tick() == LONGEST_REST_SECONDS
    assert (scene.database.shots, scene.hands.given) == ([False], [])
