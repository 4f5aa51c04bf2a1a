"""Fires that were decided before their instant: written as they are if nothing has happened since, else not at all."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any, Final

import pytest

from tests.stores.programming import IMPATIENT, QUEUE, Program
from waterclock.domain.claim import Claimant, Claimed, Taker
from waterclock.domain.library import NAMESPACE, RULES
from waterclock.domain.moment import MINUTE, SECOND
from waterclock.domain.outcome import WORKER_LOST, Beginning, Outcome
from waterclock.domain.run import RunState
from waterclock.engine.work import StoreWork
from waterclock.stores import database_from_url
from waterclock.stores.base import Row
from waterclock.stores.ops import claiming, reading
from waterclock.stores.ops.firing import fire_due
from waterclock.stores.ops.foreseeing import Foreseen, due_together, foresee, numbers_ahead
from waterclock.stores.ops.volley import NUMBERS_EACH, Volley, volley
from waterclock.stores.ops.volley_firing import Shot, fire_volley

TTL_SECONDS: Final = 60.0
SCHEDULER: Final = Claimant(node="scheduler", host="host", queues=(QUEUE,))
TAKERS: Final = {QUEUE: Taker(node=SCHEDULER.node, host=SCHEDULER.host, room=100, ttl_seconds=TTL_SECONDS)}
BEFORE_SECONDS: Final = 12


@pytest.fixture
async def program(store_url: str) -> AsyncIterator[Program]:
    """Its clock stands two seconds before the minute at which its jobs are due."""
    database = database_from_url(store_url)
    await database.open()
    await database.migrate()
    program = await Program.on(database)
    program.pass_time(-BEFORE_SECONDS)
    yield program
    await database.close()


async def together(program: Program, limit: int = 100) -> Sequence[Row]:
    return await program.database.look_up(due_together, ticker=NAMESPACE, due_at=program.due, limit=limit)


async def foreseen(program: Program) -> list[Foreseen]:
    due = await together(program)
    return await program.database.read(foresee, due=due) if due else []


async def made_ready(program: Program) -> Volley | None:
    found = await foreseen(program)
    numbers = iter(await program.database.write(numbers_ahead, count=NUMBERS_EACH * len(found)))
    return volley(found, program.due, TAKERS, numbers)


async def ready(program: Program) -> Volley:
    made = await made_ready(program)
    assert made
    return made


async def shoot(program: Program, made: Volley) -> Shot:
    return await program.database.write(fire_volley, volley=made, about=program.due)


async def shot_in_time(program: Program, made: Volley) -> Shot:
    program.pass_time(BEFORE_SECONDS)
    return await shoot(program, made)


async def with_care(program: Program) -> tuple[str, ...]:
    """The names of what whoever fires the ordinary way finds."""
    fired = await program.database.write(fire_due, limit=100, rules={NAMESPACE: RULES}, ticker=NAMESPACE, takers=TAKERS)
    return tuple(sorted(each.attempt.job_name for each in fired.claimed))


def _success(claimed: Claimed, beginning: Beginning) -> Outcome:
    attempt = claimed.attempt
    how: dict[str, Any] = {"beginning": beginning, "job_id": attempt.job_id, "lone": claimed.lone}
    return Outcome(attempt_id=attempt.id, fence=attempt.fence, state=RunState.SUCCEEDED, **how)


async def end_all(program: Program, made: Volley) -> None:
    work = StoreWork(program.database, {NAMESPACE: RULES}, alone=True)
    outcomes = [_success(each, Beginning(attempt_id=each.attempt.id, fence=1, pid=7)) for each in made.claimed]
    await work.record([], outcomes)


async def rescue(program: Program) -> None:
    await program.database.write(
        claiming.rescue, margin_seconds=1, limit=100, rules={NAMESPACE: RULES}, namespace=NAMESPACE
    )


async def test_what_was_made_ready_fires_at_its_instant_and_leaves_what_any_fire_leaves(program: Program) -> None:
    once, again = await program.add(program.until_now(name="once"), program.job("again"))
    made = await ready(program)
    assert (await shot_in_time(program, made)).is_fired
    assert [each.job.name for each in await program.jobs()] == ["again"]
    (left,) = await program.jobs("again")
    assert left.job.next_fire_at == program.due + MINUTE
    assert await program.states(again) == ["STARTING"]
    assert await with_care(program) == ()
    assert {each.attempt.job_name: each.attempt.run_at for each in made.claimed} == dict.fromkeys(
        ("once", "again"), program.due
    )
    await end_all(program, made)
    for stored in (once, again):
        (line,) = await program.past(stored)
        assert (line.state, line.scheduled_at, line.started_at is not None) == ("SUCCEEDED", program.due, True)


async def test_its_rows_are_those_of_a_fire_that_was_decided_at_its_instant(program: Program) -> None:
    await program.add(program.job("ready"), program.job("late", since=1))
    made = await ready(program)
    assert (await shot_in_time(program, made)).is_fired
    fired = await program.database.write(fire_due, limit=100, rules={NAMESPACE: RULES}, ticker=NAMESPACE, takers=TAKERS)
    one, other = [
        await program.database.read(reading.get_attempt, org_id=each.attempt.org_id, wire_id=each.attempt.wire_id)
        for each in (made.claimed[0], fired.claimed[-1])
    ]
    assert one
    assert other
    own = {"id", "run_id", "wire_id", "job_id", "job_name", "trigger_id", "trigger_name", "run_at", "due_at"}
    stamps = {"created_at", "updated_at", "lease_until"}
    for name in type(one).__slots__:
        assert name in own | stamps or getattr(one, name) == getattr(other, name), name
    for name in stamps:  # both within the ten seconds that have passed since the minute
        assert abs(getattr(one, name) - getattr(other, name)) <= 11 * SECOND, name


async def test_before_its_instant_nothing_is_done(program: Program) -> None:
    await program.add(program.until_now(), program.job("again"))
    made = await ready(program)
    shot = await shoot(program, made)
    assert (shot.is_fired, shot.now < program.due) == (False, True)
    assert await program.names() == ["again", "job"]
    assert (await shot_in_time(program, made)).is_fired


Change = Callable[[Program], Awaitable[object]]
CHANGES: Final[dict[str, Change]] = {
    "removed": lambda program: program.remove("a"),
    "paused": lambda program: program.change("a", next_fire_at=None),
    "put off": lambda program: program.change("a", next_fire_at=program.due + SECOND),
    "given other arguments": lambda program: program.change_spec("a", call={"func": "module:other"}),
    "given another cap": lambda program: program.change_spec("a", max_concurrent=3),
    "replaced": lambda program: program.add(program.job("a", retries=2), replace=("a",)),
    "quarantined": lambda program: program.quarantine("a", 1),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
@pytest.mark.parametrize("kind", ["once", "again"])
async def test_whatever_was_acknowledged_before_the_instant_goes_first(
    program: Program, change: Change, kind: str
) -> None:
    make = program.until_now if kind == "once" else program.job
    await program.add(make(name="a"), make(name="b"))
    made = await ready(program)
    await change(program)
    jobs = await program.jobs()
    assert not (await shot_in_time(program, made)).is_fired
    assert await program.jobs() == jobs
    assert "b" in await with_care(program)


async def test_what_another_scheduler_has_fired_is_not_fired_again(program: Program) -> None:
    stored = await program.add(program.job("a"), program.job("b"))
    made, same = await ready(program), await ready(program)
    assert (await shot_in_time(program, made)).is_fired
    assert not (await shoot(program, same)).is_fired
    assert await with_care(program) == ()
    assert [await program.states(each) for each in stored] == [["STARTING"]] * 2


async def test_what_is_later_than_its_grace_is_decided_with_care(program: Program) -> None:
    (stored,) = await program.add(program.until_now(misfire=IMPATIENT))
    made = await ready(program)
    program.pass_time(BEFORE_SECONDS)  # ten seconds late
    assert not (await shoot(program, made)).is_fired
    assert await with_care(program) == ()
    assert await program.states(stored) == ["MISSED"]


async def test_what_is_due_again_by_then_is_decided_with_care(program: Program) -> None:
    await program.add(program.job())
    made = await ready(program)
    program.pass_time(63)
    assert not (await shoot(program, made)).is_fired


async def test_a_clock_that_was_set_back_fires_nothing(program: Program) -> None:
    await program.add(program.job())
    made = await ready(program)
    program.pass_time(-3600)
    assert not (await shoot(program, made)).is_fired


async def test_what_cannot_start_at_once_is_not_made_ready(program: Program) -> None:
    """Runs of the minute before live: with one more `full` would be over its cap, `free` and `roomy` would not."""
    program.due -= MINUTE
    program.pass_time(-50)
    await program.add(
        program.job("full"), program.job("free", max_concurrent=0), program.job("roomy", max_concurrent=2)
    )
    await program.add(program.job("queueing", queueing=True), program.job("elsewhere", queue="another"))
    program.pass_time(BEFORE_SECONDS + 1)
    await program.fire()
    program.due += MINUTE
    made = await ready(program)
    assert {each.attempt.job_name for each in made.claimed} == {"free", "roomy"}


async def test_late_and_paused_and_orphaned_triggers_are_not_made_ready(program: Program) -> None:
    await program.add(program.job("late", since=1), program.job("paused", paused=True))
    assert await made_ready(program) is None


async def test_as_many_of_an_instant_are_read_as_are_asked_for(program: Program) -> None:
    names = {f"job {number}" for number in range(5)}
    await program.add(*(program.job(name) for name in names), program.job("late", since=1))
    some = {row["name"] for row in await together(program, limit=3)}
    assert (len(some), some < names) == (3, True)
    assert {row["name"] for row in await together(program)} == names


async def test_calls_of_a_scheduler_that_died_after_its_volley_are_found(program: Program) -> None:
    once, again = await program.add(program.until_now(name="once"), program.job("again"))
    assert (await shot_in_time(program, await ready(program))).is_fired
    program.pass_time(TTL_SECONDS + 20)
    await rescue(program)
    for stored in (once, again):
        (line,) = await program.past(stored)
        assert (line.state, line.message) == ("FAILED", WORKER_LOST)


async def test_a_lease_begins_when_it_fires_not_when_it_was_made_ready(program: Program) -> None:
    """Fired at the end of its grace: whoever took it has its whole lease from then on."""
    (once,) = await program.add(program.until_now())
    made = await ready(program)
    program.pass_time(BEFORE_SECONDS + 40)
    late = program.due + 50 * SECOND
    assert (await program.database.write(fire_volley, volley=made, about=late)).is_fired
    program.pass_time(TTL_SECONDS - 10)
    await rescue(program)
    assert await program.past(once) == []  # still in its bundle


async def test_two_queues_have_a_bundle_each(program: Program) -> None:
    takers = {**TAKERS, "another": replace(TAKERS[QUEUE])}
    await program.add(program.until_now(name="a"), program.until_now(name="b", queue="another"))
    numbers = iter(await program.database.write(numbers_ahead, count=NUMBERS_EACH * 2))
    made = volley(await foreseen(program), program.due, takers, numbers)
    assert made
    assert (await shot_in_time(program, made)).is_fired
    assert (len(made.bundles), made.queues) == (2, {QUEUE: 1, "another": 1})
    await end_all(program, made)


@asynccontextmanager
async def held(store_url: str, name: str) -> AsyncIterator[None]:
    """By somebody else's transaction that stands still."""
    other = database_from_url(store_url)
    await other.open()
    session = await other._borrow()  # type: ignore[attr-defined]
    tx = await session.begin(read_only=False)
    await tx.fetch("lock_trigger", {"org_id": 1, "namespace": NAMESPACE, "name": name})
    try:
        yield
    finally:
        await session.roll_back()
        await session.give_back()
        await other.close()


@pytest.mark.parametrize("store_url", ["postgres", "mariadb"], indirect=True)  # SQLite has one writer at a time
async def test_what_somebody_holds_is_not_waited_for(program: Program, store_url: str) -> None:
    await program.add(program.job("a"), program.job("b"))
    made = await ready(program)
    async with held(store_url, "a"):
        assert not (await shot_in_time(program, made)).is_fired
        assert await with_care(program) == ("b",)
