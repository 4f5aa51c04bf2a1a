"""Bookmarks in every store: saved with the end of a run, handed to the next."""

import asyncio
from typing import Any

import pytest

from tests.stores.store import Store
from tests.stores.world import PLACE, World
from waterclock.domain.bookmark import Bookmark
from waterclock.domain.errors import NotFound
from waterclock.domain.outcome import Outcome
from waterclock.domain.run import Attempt, RunState
from waterclock.stores.ops import bookmarks, jobs
from waterclock.stores.ops.ending import end_attempts
from waterclock.stores.ops.messages import list_messages


async def entry(world: World, name: str = "job") -> Bookmark | None:
    job = await world.database.read(jobs.get_job, **PLACE, name=name)
    assert job is not None
    return await world.database.read(bookmarks.get_bookmark, job_id=job.id)


async def run(world: World, name: str = "job", **how: Any) -> Attempt:
    """One that is started, claimed and ended."""
    await world.start(name)
    attempt = await world.claim_one()
    await world.begin(attempt)
    await world.end(attempt, **how)
    return attempt


async def test_what_a_run_left_is_handed_to_the_next(world: World) -> None:
    await world.job()
    await world.start()
    (first,) = await world.claim()
    assert first.bookmark is None
    await world.end(first.attempt, bookmark='{"day": "물시계"}')
    await world.start()
    (second,) = await world.claim()
    assert second.bookmark == '{"day": "물시계"}'


async def test_an_entry_says_which_runs_saved_it(world: World) -> None:
    await world.job()
    first = await run(world, bookmark="1")
    second = await run(world, bookmark="2")
    found = await entry(world)
    assert found is not None
    assert (found.job_name, found.version, found.runs, found.attempt) == ("job", 0, 2, 0)
    assert (found.wire_id, found.previous_wire_id, found.content) == (second.wire_id, first.wire_id, "2")


@pytest.mark.parametrize("state", [RunState.FAILED, RunState.TIMEOUT])
async def test_a_run_that_did_not_succeed_saves_nothing(world: World, state: RunState) -> None:
    await world.job()
    await run(world, state=state, bookmark="1")
    assert await entry(world) is None


async def test_an_end_that_is_somebody_elses_saves_nothing(world: World) -> None:
    await world.job()
    await world.start()
    attempt = await world.claim_one()
    world.pass_time(100)
    await world.rescue()
    assert not await world.end(attempt, bookmark="1")
    assert await entry(world) is None


async def test_of_several_ends_in_one_batch_the_last_one_stays(world: World) -> None:
    await world.job("one")
    await world.job("two")
    await world.start("one", 2)
    await world.start("two")
    claimed = sorted((each.attempt for each in await world.claim()), key=lambda attempt: attempt.id)
    ends = [
        Outcome(attempt_id=each.id, fence=each.fence, state=RunState.SUCCEEDED, bookmark=str(number))
        for number, each in enumerate(claimed)
    ]
    await world.database.write(end_attempts, ends)
    assert [(await _content(world, name)) for name in ("one", "two")] == [("1", 2), ("2", 1)]


async def test_a_bookmark_that_cannot_be_saved_is_told_of_and_the_run_succeeds(world: World) -> None:
    await world.job()
    attempt = await run(world, bookmark_refused="it is a link")
    assert (await world.attempt(attempt.wire_id)).state is RunState.SUCCEEDED
    (message,) = await world.database.read(list_messages, org_id=1, before=2**62, limit=10)
    assert (message.kind, message.subject, message.run_id) == ("bookmark", "job", attempt.run_id)
    assert message.body == f"run {attempt.wire_id} succeeded, but its bookmark was not saved: it is a link"
    assert await entry(world) is None


async def test_a_reset_keeps_the_entry_and_counts_it(world: World) -> None:
    await world.job()
    with pytest.raises(NotFound, match="bookmark of job 'job'"):
        await world.database.write(bookmarks.reset_bookmark, **PLACE, name="job")
    saved = await run(world, bookmark="1")
    reset = await world.database.write(bookmarks.reset_bookmark, **PLACE, name="job")
    assert (reset.version, reset.content, reset.wire_id) == (1, None, saved.wire_id)
    assert await entry(world) == reset
    await world.start()
    (next_run,) = await world.claim()
    assert next_run.bookmark is None


async def test_a_bookmark_is_set_by_a_call_as_well(world: World) -> None:
    await world.job()
    made = await world.database.write(bookmarks.set_bookmark, **PLACE, name="job", content="7")
    assert (made.content, made.runs, made.wire_id) == ("7", 0, None)
    assert await entry(world) == made
    with pytest.raises(NotFound, match="job 'none'"):
        await world.database.write(bookmarks.set_bookmark, **PLACE, name="none", content="7")


async def test_a_deleted_job_takes_its_bookmark_along_and_a_late_end_brings_none_back(world: World) -> None:
    await world.job()
    await run(world, bookmark="1")
    await world.start()
    late = await world.claim_one()
    await world.database.write(jobs.delete_job, **PLACE, name="job", allow=lambda facts: None)
    assert await world.end(late, bookmark="2") == {late.id}
    await world.job()
    assert await entry(world) is None
    assert await world.database.read(bookmarks.get_bookmark, job_id=late.job_id or 0) is None


async def test_runs_that_end_at_once_on_two_nodes_both_save(shared: Store) -> None:
    one, two = await shared.open_many(2)
    worlds = [World(one, node="one"), World(two, node="two")]
    await worlds[0].job()
    await worlds[0].start("job", 20)
    attempts = [each.attempt for each in await worlds[0].claim()]
    ends = [worlds[n % 2].end(attempt, bookmark=str(n)) for n, attempt in enumerate(attempts)]
    assert all(await asyncio.gather(*ends))
    found = await entry(worlds[0])
    assert found is not None
    assert found.runs == 20


async def test_the_largest_bookmark_is_kept_whole(world: World) -> None:
    await world.job()
    content = "é" * (128 * 1024)
    await run(world, bookmark=content)
    await world.start()
    (claimed,) = await world.claim()
    assert claimed.bookmark == content


async def _content(world: World, name: str) -> tuple[str | None, int]:
    found = await entry(world, name)
    assert found is not None
    return found.content, found.runs
