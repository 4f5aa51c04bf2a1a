"""What a scheduler fires it may take at once: claimed from the beginning, and nobody else's to claim."""

from collections.abc import AsyncIterator
from typing import Final

import pytest

from tests.stores.programming import QUEUE, Program
from waterclock.domain.claim import Claimant, Claimed, Taker
from waterclock.domain.library import NAMESPACE, RULES
from waterclock.domain.outcome import Outcome
from waterclock.domain.run import RunState
from waterclock.stores import Database, database_from_url
from waterclock.stores.base import Topic
from waterclock.stores.ops import claiming, recording
from waterclock.stores.ops.firing import Fired, fire_due

SCHEDULER: Final = Claimant(node="scheduler", host="host", queues=(QUEUE,))


@pytest.fixture
async def program(store_url: str) -> AsyncIterator[Program]:
    database = database_from_url(store_url)
    await database.open()
    await database.migrate()
    yield await Program.on(database)
    await database.close()


async def fire(database: Database, room: int) -> Fired:
    taker = Taker(node=SCHEDULER.node, host=SCHEDULER.host, room=room, ttl_seconds=60)
    return await database.write(
        fire_due, limit=1_000, rules={NAMESPACE: RULES}, ticker=NAMESPACE, takers={QUEUE: taker}
    )


async def record(program: Program, *claimed: Claimed, state: RunState = RunState.SUCCEEDED) -> None:
    outcomes = [Outcome(attempt_id=each.attempt.id, fence=each.attempt.fence, state=state) for each in claimed]
    await program.database.write(recording.record, beginnings=[], outcomes=outcomes, alone=True)


async def test_as_many_are_taken_as_there_is_room_for_and_the_others_wait_to_be_claimed(program: Program) -> None:
    await program.add(*(program.job(f"job {number}") for number in range(5)))
    fired = await fire(program.database, room=2)
    claimed = await program.claim()
    assert (fired.runs, len(fired.claimed), len(claimed)) == (5, 2, 3)
    names = {each.attempt.job_name for each in (*fired.claimed, *claimed)}
    assert names == {f"job {number}" for number in range(5)}
    await record(program, *fired.claimed, *claimed)
    for stored in await program.jobs():
        assert await program.states(stored) == ["SUCCEEDED"]


async def test_what_was_taken_is_what_a_claim_would_have_given(program: Program) -> None:
    await program.add(program.job(timeout_seconds=7), program.job("other", timeout_seconds=7))
    (taken,) = (await fire(program.database, room=1)).claimed
    (claimed,) = await program.claim()
    same = ("run_at", "org_id", "namespace", "number", "state", "fence", "kind", "owner", "timeout_seconds", "due_at")
    for name in (*same, "arguments", "settings", "attempts", "job_version"):
        assert getattr(taken.attempt, name) == getattr(claimed.attempt, name), name
    assert taken.spec == claimed.spec
    assert (taken.attempt.node, claimed.attempt.node) == ("scheduler", "node")


async def test_a_run_over_its_jobs_cap_is_not_taken(program: Program) -> None:
    await program.add(program.job(queueing=True))
    (first,) = (await fire(program.database, room=5)).claimed
    program.pass_time(60)
    assert (await fire(program.database, room=5)).claimed == ()
    await record(program, first)
    (waited,) = await program.claim()
    assert waited.attempt.run_at > first.attempt.run_at


async def test_what_was_taken_and_never_heard_of_goes_back(program: Program) -> None:
    """The answer to the fire was lost: nobody here knows what it took."""
    await program.add(program.job(), program.job("known"))
    fired = await fire(program.database, room=2)
    known = next(each for each in fired.claimed if each.attempt.job_name == "known")
    await program.database.write(claiming.give_back, claimant=SCHEDULER, besides={known.attempt.id})
    (back,) = await program.claim()
    assert (back.attempt.job_name, back.attempt.fence) == ("job", 2)
    stale = next(each for each in fired.claimed if each.attempt.job_name == "job")
    await record(program, stale, state=RunState.FAILED)  # its fence is not the one that counts any more
    await record(program, back)
    (stored,) = await program.jobs("job")
    assert await program.states(stored) == ["SUCCEEDED"]


async def test_a_lost_takers_run_is_decided_by_its_lease(program: Program) -> None:
    await program.add(program.job(retries=1))
    await fire(program.database, room=1)
    program.pass_time(600)
    await program.database.write(claiming.rescue, margin_seconds=5, limit=10, namespace=NAMESPACE)
    (again,) = await program.claim()
    assert again.attempt.number == 1


async def test_what_is_released_wakes_whoever_could_claim_it(program: Program) -> None:
    heard: list[bool] = []
    await program.add(program.job())
    (taken,) = (await fire(program.database, room=1)).claimed
    deaf = program.database.listen(Topic.ATTEMPTS, lambda: heard.append(True))
    await program.database.write(claiming.release, node="scheduler", attempt_ids=[taken.attempt.id])
    assert len(await program.claim()) == 1
    deaf()
    assert heard
