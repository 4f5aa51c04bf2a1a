"""A job that was started before is started in one trip, as long as it is the same; else as if nobody knew it."""

from collections.abc import AsyncIterator
from typing import Any, cast

import pytest

from tests.stores.test_repeats import call
from tests.stores.test_room import recap
from tests.stores.world import World
from waterclock import clock
from waterclock.domain.errors import CommitUnknown
from waterclock.services import starting
from waterclock.services.starting import KnownJobs, Starting
from waterclock.stores import Database, database_from_url
from waterclock.stores.base import Operation


class Watched:
    """A database that notes what it was asked, and may lose the answer to the next known start."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.asked: list[str] = []
        self.loses = False

    async def write(self, operation: Operation[Any, Any], **values: Any) -> Any:
        self.asked.append(getattr(operation, "__name__", ""))
        answer = await self._database.write(operation, **values)
        if self.loses:
            self.loses = False
            raise CommitUnknown("the answer was lost")
        return answer


@pytest.fixture
async def world() -> AsyncIterator[World]:
    database = database_from_url("sqlite://")
    await database.open()
    await database.migrate()
    yield World(database)
    await database.close()


@pytest.fixture
def watched(world: World) -> Watched:
    return Watched(world.database)


@pytest.fixture
def service(watched: Watched) -> Starting:
    return Starting(cast(Database, watched))


async def test_the_second_start_of_a_job_is_one_trip(world: World, watched: Watched, service: Starting) -> None:
    await world.job()
    answers = [*await service.start([call(digest="a")]), *await service.start([call(digest="b"), call(digest="c")])]
    assert watched.asked == ["start_new", "start_known"]
    assert [attempt.wire_id for attempt in await world.attempts()] == answers


async def test_a_changed_job_is_looked_at_and_known_again(world: World, watched: Watched, service: Starting) -> None:
    await world.job()
    await service.start([call(digest="a")])
    await recap(world, 0)
    for digest in "bc":
        await service.start([call(digest=digest)])
    assert watched.asked == ["start_new", "start_known", "start_new", "start_known"]
    assert [attempt.job_version for attempt in await world.attempts()] == [1, 2, 2]


async def test_a_call_without_a_name_is_not_sent_without_a_transaction(
    world: World, watched: Watched, service: Starting
) -> None:
    await world.job()
    await service.start([call(digest="a")])
    await service.start([call()])
    assert watched.asked == ["start_new", "start_new"]


async def test_a_repetition_of_a_known_start_gets_its_answer(world: World, watched: Watched, service: Starting) -> None:
    await world.job()
    (first,) = await service.start([call(digest="a")])
    again, other = await service.start([call(digest="a"), call(digest="b")])
    assert again == first != other
    assert watched.asked == ["start_new", "start_known", "start_each"]
    assert len(await world.attempts()) == 2


async def test_a_lost_answer_is_asked_for_again_and_there_is_one_run(
    world: World, watched: Watched, service: Starting
) -> None:
    await world.job()
    await service.start([call(digest="a")])
    watched.loses = True
    (answer,) = await service.start([call(digest="b")])
    assert watched.asked[1:] == ["start_known", "start_new", "start_each"]
    assert [attempt.wire_id for attempt in await world.attempts()][1:] == [answer]


async def test_an_answer_that_was_waited_for_for_long_is_told_to_be_lost(
    world: World, watched: Watched, service: Starting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(starting, "FRESH_SECONDS", -1.0)
    await world.job()
    await service.start([call(digest="a")])
    watched.loses = True
    with pytest.raises(CommitUnknown):
        await service.start([call(digest="b")])


async def test_a_store_whose_clock_was_set_back_is_asked_for_the_time(
    world: World, watched: Watched, service: Starting
) -> None:
    await world.job()
    await service.start([call(digest="a")])
    world.pass_time(-3600)
    for digest in "bc":
        await service.start([call(digest=digest)])
    assert watched.asked == ["start_new", "start_known", "start_new", "start_known"]


async def test_the_later_of_two_ideas_of_the_time_is_kept_and_jobs_are_forgotten_one_by_one(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(starting, "MOST", 1)
    known, job, at = KnownJobs(), await world.job(), clock.monotonic()
    known.learn([job], 1_000, at)
    known.saw(500, at)
    known.saw(2_000, at)
    start = known.start_of([call(digest="a")], at)
    assert start is not None
    assert start.about == 2_000
    known.learn([await world.job("other")], 1_000, at)
    assert known.start_of([call(digest="a")], at) is None
