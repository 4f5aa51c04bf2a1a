"""Calls that were taken as they were fired share a row until each has its own; whatever happens, none is lost."""

from collections.abc import AsyncIterator
from typing import Any, Final

import pytest

from tests.stores.programming import QUEUE, Program
from waterclock.domain.claim import Claimant, Claimed, Taker
from waterclock.domain.errors import CommitUnknown
from waterclock.domain.library import NAMESPACE, RULES, StoredJob, queue_of
from waterclock.domain.outcome import WORKER_LOST, Beginning, Outcome
from waterclock.domain.run import Attempt, RunState
from waterclock.engine.work import StoreWork
from waterclock.stores import database_from_url
from waterclock.stores.ops import claiming, reading
from waterclock.stores.ops.bundle import Bundled, call_of
from waterclock.stores.ops.firing import fire_due
from waterclock.stores.ops.lone_ends import Contested, end_bundled

TTL_SECONDS: Final = 60.0
OTHERS: Final = queue_of(NAMESPACE, "others")
SCHEDULER: Final = Claimant(node="scheduler", host="host", queues=(QUEUE,))
TAKERS: Final = {
    queue: Taker(node=SCHEDULER.node, host=SCHEDULER.host, room=100, ttl_seconds=TTL_SECONDS)
    for queue in (QUEUE, OTHERS)
}


@pytest.fixture
async def program(store_url: str) -> AsyncIterator[Program]:
    database = database_from_url(store_url)
    await database.open()
    await database.migrate()
    yield await Program.on(database)
    await database.close()


async def taken(program: Program) -> list[Claimed]:
    """By name."""
    fired = await program.database.write(fire_due, limit=100, rules={NAMESPACE: RULES}, ticker=NAMESPACE, takers=TAKERS)
    return sorted(fired.claimed, key=lambda each: each.attempt.job_name)


async def three(program: Program, **spec: object) -> tuple[list[StoredJob], list[Claimed]]:
    return await program.add(*(program.until_now(name=f"{n}", **spec) for n in "abc")), await taken(program)


async def three_more(program: Program) -> tuple[list[StoredJob], list[Claimed]]:
    return await program.add(*(program.until_now(name=f"{n}") for n in "def")), await taken(program)


async def attempt_of(program: Program, claimed: Claimed) -> Attempt:
    attempt = claimed.attempt
    found = await program.database.read(reading.get_attempt, org_id=attempt.org_id, wire_id=attempt.wire_id)
    assert found is not None
    return found


def end(claimed: Claimed, state: RunState = RunState.SUCCEEDED, message: str | None = None) -> Outcome:
    attempt = claimed.attempt
    began = Beginning(attempt_id=attempt.id, fence=attempt.fence, pid=7)
    how = {"beginning": began, "message": message, "job_id": attempt.job_id, "lone": claimed.lone}
    return Outcome(attempt_id=attempt.id, fence=attempt.fence, state=state, **how)  # type: ignore[arg-type]


def work(program: Program) -> StoreWork:
    return StoreWork(program.database, {NAMESPACE: RULES}, alone=True)


async def record(program: Program, *outcomes: Outcome) -> None:
    await work(program).record([], outcomes)


async def begin(program: Program, claimed: Claimed, beginning: Beginning) -> frozenset[int]:
    """As the recorder does."""
    assert claimed.lone
    await work(program).unbundle([claimed.lone])
    return await work(program).record([beginning], [])


async def bundles(program: Program) -> int:
    async def count(tx: object) -> int:
        return len(await tx.fetch("bundles_of_node", {"node": SCHEDULER.node}))  # type: ignore[attr-defined]

    return await program.database.write(count)


async def rescue(program: Program) -> None:
    program.pass_time(TTL_SECONDS + 10)
    await program.database.write(
        claiming.rescue, margin_seconds=1, limit=100, rules={NAMESPACE: RULES}, namespace=NAMESPACE
    )


async def moves_of(program: Program, claimed: Claimed) -> list[tuple[str | None, str]]:
    attempt = claimed.attempt
    told = await program.database.read(reading.transitions_after, org_id=attempt.org_id, seq=0, limit=100)
    return [(was, to) for each in told for attempt_id, was, to, _ in each.moves if attempt_id == attempt.id]


async def test_a_short_call_has_its_rows_once_it_has_ended_as_if_they_had_always_been_there(program: Program) -> None:
    stored, claimed = await three(program)
    assert await bundles(program) == 1
    assert await program.states(stored[0]) == []
    await record(program, *map(end, claimed))
    assert await bundles(program) == 0
    for each in stored:
        (line,) = await program.past(each)
        assert (line.state, line.started_at is not None, line.ended_at is not None) == ("SUCCEEDED", True, True)
    assert await moves_of(program, claimed[1]) == [
        (None, "STARTING"),
        ("STARTING", "RUNNING"),
        ("RUNNING", "SUCCEEDED"),
    ]


async def test_its_rows_are_those_of_a_call_that_was_long(program: Program) -> None:
    _, (short, long, _) = await three(program)
    attempt = long.attempt
    began = Beginning(attempt_id=attempt.id, fence=attempt.fence, pid=7)
    await begin(program, long, began)
    await record(program, end(short), Outcome(attempt_id=attempt.id, fence=1, state=RunState.SUCCEEDED, lone=long.lone))
    found = [
        await program.database.read(reading.get_attempt, org_id=attempt.org_id, wire_id=each.attempt.wire_id)
        for each in (short, long)
    ]
    own = {"id", "run_id", "wire_id", "job_id", "job_name", "trigger_id", "trigger_name", "started_at", "ended_at"}
    for name in type(attempt).__slots__:
        one, other = (getattr(each, name) for each in found)
        assert name in own | {"updated_at"} or one == other, name


async def test_what_ends_bit_by_bit_leaves_no_bundle(program: Program) -> None:
    stored, (first, *others) = await three(program)
    await record(program, end(first))
    assert await bundles(program) == 1
    await record(program, *map(end, others))
    assert await bundles(program) == 0
    assert [await program.states(each) for each in stored] == [["SUCCEEDED"]] * 3


async def test_a_long_call_is_seen_to_run_and_the_others_stay_in_the_bundle(program: Program) -> None:
    stored, (long, *others) = await three(program)
    attempt = long.attempt
    began = Beginning(attempt_id=attempt.id, fence=attempt.fence, pid=7)
    assert await begin(program, long, began) == frozenset()
    assert [await program.states(each) for each in stored] == [["RUNNING"], [], []]
    await record(program, *map(end, others))
    assert await bundles(program) == 0
    done = Outcome(attempt_id=attempt.id, fence=attempt.fence, state=RunState.SUCCEEDED, lone=long.lone)
    await record(program, done)
    assert await program.states(stored[0]) == ["SUCCEEDED"]


async def test_one_that_fails_is_tried_again_as_its_job_says(program: Program) -> None:
    stored, (bad, *good) = await three(program, retries=1)
    await record(program, end(bad, RunState.FAILED, "no luck"), *map(end, good))
    assert [await program.states(each) for each in stored[1:]] == [["SUCCEEDED"]] * 2
    (again,) = await program.claim()
    assert (again.attempt.job_name, again.attempt.number) == ("a", 1)
    await program.end(again)
    assert await program.states(stored[0]) == ["SUCCEEDED"]


async def test_what_a_lost_scheduler_left_is_decided_and_what_had_ended_stays(program: Program) -> None:
    stored, (first, *_) = await three(program)
    await record(program, end(first))
    await rescue(program)
    assert await bundles(program) == 0
    assert [await program.states(each) for each in stored] == [["SUCCEEDED"], ["FAILED"], ["FAILED"]]
    assert (await program.past(stored[2]))[0].message == WORKER_LOST


async def test_nobody_decides_what_is_still_leased(program: Program) -> None:
    stored, claimed = await three(program)
    await program.database.write(claiming.rescue, margin_seconds=1, limit=100, namespace=NAMESPACE)
    await record(program, *map(end, claimed))
    assert [await program.states(each) for each in stored] == [["SUCCEEDED"]] * 3


async def test_a_scheduler_that_stood_still_changes_nothing_of_what_was_decided_meanwhile(program: Program) -> None:
    stored, claimed = await three(program)
    await rescue(program)
    await record(program, *map(end, claimed))
    assert [await program.states(each) for each in stored] == [["FAILED"]] * 3


@pytest.mark.parametrize("at_first", [1, 3])
async def test_an_end_whose_answer_was_lost_is_told_again_and_stays_as_it_is(program: Program, at_first: int) -> None:
    """As `StoreWork` does it, but for the last step: it never hears that it was stored."""
    stored, claimed = await three(program)
    calls = [call_of(each.lone) for each in claimed]
    await record(program, *map(end, claimed[:at_first]))
    before = await program.past(stored[0])
    for each, call in zip(claimed[:at_first], calls, strict=False):
        assert isinstance(each.lone, Bundled)
        assert call
        each.lone.call = call
        call.bundle.calls += 1
    await record(program, *map(end, claimed))
    assert await program.past(stored[0]) == before
    assert [await program.states(each) for each in stored] == [["SUCCEEDED"]] * 3
    assert await bundles(program) == 0


async def test_after_a_fire_whose_answer_was_lost_all_of_them_are_for_others(program: Program) -> None:
    stored, _ = await three(program)
    await program.database.write(claiming.give_back, claimant=SCHEDULER, besides=frozenset())
    claimed = await program.claim()
    assert sorted(each.attempt.job_name for each in claimed) == ["a", "b", "c"]
    await program.end(*claimed)
    assert [await program.states(each) for each in stored] == [["SUCCEEDED"]] * 3


async def test_what_goes_back_is_for_others_and_the_rest_ends_here(program: Program) -> None:
    stored, (back, *others) = await three(program)
    assert back.lone
    await work(program).unbundle([back.lone])
    await work(program).release(SCHEDULER.node, [back.attempt.id])
    await record(program, *map(end, others))
    (claimed,) = await program.claim()
    await program.end(claimed)
    assert [await program.states(each) for each in stored] == [["SUCCEEDED"]] * 3
    assert await bundles(program) == 0


async def test_what_has_rows_of_its_own_can_be_held_on_to(program: Program) -> None:
    _, claimed = await three(program)
    await work(program).unbundle([each.lone for each in claimed if each.lone])
    held = [(each.attempt.id, each.attempt.fence) for each in claimed]
    assert await work(program).renew(held, TTL_SECONDS) == {attempt_id for attempt_id, _ in held}
    assert await bundles(program) == 0


async def test_each_queue_has_a_bundle_of_its_own(program: Program) -> None:
    stored = await program.add(program.until_now(name="a"), program.until_now(name="b", queue=OTHERS))
    one, other = await taken(program)
    assert await bundles(program) == 2
    await record(program, end(one))
    assert await bundles(program) == 1
    await record(program, end(other))
    assert [await program.states(each) for each in stored] == [["SUCCEEDED"]] * 2


async def test_what_somebody_counts_or_watches_has_its_rows_from_the_beginning(program: Program) -> None:
    stored = await program.add(
        program.job("again"), program.until_now(name="timed", timeout_seconds=5), program.until_now(name="once")
    )
    await taken(program)
    assert [await program.states(each) for each in stored] == [["STARTING"], ["STARTING"], []]


@pytest.mark.parametrize("is_done", [True, False])
async def test_ends_whose_answer_was_lost_are_looked_at_and_written_once(
    program: Program, monkeypatch: pytest.MonkeyPatch, is_done: bool
) -> None:
    stored, claimed = await three(program)
    write: Any = program.database.write

    async def lose(operation: object, **given: object) -> object:
        if operation is not end_bundled:
            return await write(operation, **given)
        if is_done:
            await write(operation, **given)
        raise CommitUnknown("the answer was lost")

    monkeypatch.setattr(program.database, "write", lose)
    await record(program, *map(end, claimed))
    assert [await program.states(each) for each in stored] == [["SUCCEEDED"]] * 3
    assert await bundles(program) == 0
    assert (await moves_of(program, claimed[0])).count(("RUNNING", "SUCCEEDED")) == 1


async def test_an_end_of_a_bundle_that_is_gone_undoes_those_beside_it(program: Program) -> None:
    _, (gone, *_) = await three(program)
    await rescue(program)
    _, (beside, *_) = await three_more(program)
    with pytest.raises(Contested):
        await program.database.write(end_bundled, outcomes=[end(gone), end(beside)])
    assert await bundles(program) == 1
    await record(program, end(gone), end(beside))
    assert [call_of(each.lone) for each in (gone, beside)] == [None, None]
    found = [await attempt_of(program, each) for each in (gone, beside)]
    assert [each.state for each in found] == [RunState.FAILED, RunState.SUCCEEDED]
