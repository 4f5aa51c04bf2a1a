"""What the duties do together: fire, claim, run, record, stop, rescue."""

import asyncio
from collections.abc import Collection, Sequence
from pathlib import Path

import pytest

from tests.engine.conftest import TTL_SECONDS, Host
from waterclock import clock
from waterclock.domain.claim import Claimant, Claims
from waterclock.domain.errors import CommitUnknown, Unavailable
from waterclock.domain.outcome import Beginning, Outcome
from waterclock.domain.run import RunState
from waterclock.engine.recorder import WAIT_SECONDS, Recorder
from waterclock.engine.watcher import Watcher
from waterclock.engine.work import StoreWork
from waterclock.stores.ops.messages import list_messages
from waterclock.stores.ops.stopping import stop_attempts
from waterclock.stores.ops.triggers import list_fires


async def nothing() -> None:
    return None


async def test_a_due_trigger_becomes_a_run_that_succeeds(host: Host) -> None:
    host.functions["good"] = nothing
    await host.job("job", "good")
    trigger = await host.trigger("every second", "* * * * * ?", "job")
    host.database.offset_us += 1_500_000
    await host.ticker.tick()
    await host.dispatcher.tick()
    (attempt, *_) = await host.attempts_listed()
    ended = await host.ended(attempt.wire_id)
    assert (ended.state, ended.trigger_name, ended.number) == (RunState.SUCCEEDED, "every second", 0)
    assert ended.started_at is not None
    assert ended.started_at >= ended.run_at
    fires = await host.database.read(list_fires, org_id=1, trigger_id=trigger.id, before=2**62, limit=10)
    assert [fire.outcome for fire in fires][-1] == "FIRED"


async def test_a_tick_rests_until_the_next_due_instant(host: Host) -> None:
    await host.job("job", "good")
    await host.trigger("every second", "* * * * * ?", "job")
    rest = await host.ticker.tick()
    assert 0 <= rest <= 1  # none at all, should the instant have come meanwhile


async def test_a_failing_run_is_tried_again_as_often_as_its_job_says(host: Host) -> None:
    host.functions["bad"] = _fail
    await host.job("job", "bad", retries=2)
    wire_id = await host.start("job")
    for suffix in ("", "_attempt_1", "_attempt_2"):
        await host.dispatcher.tick()
        ended = await host.ended(wire_id + suffix)
        assert ended.state is RunState.FAILED
        assert ended.message == "ValueError: no luck"
    assert [attempt.number for attempt in await host.attempts_listed()] == [2, 1, 0]


async def test_stopping_a_running_callable_ends_it_as_stopped_without_a_retry(host: Host) -> None:
    began = asyncio.Event()

    async def endless() -> None:
        began.set()
        await asyncio.Event().wait()

    host.functions["endless"] = endless
    await host.job("job", "endless", retries=3)
    wire_id = await host.start("job")
    await host.dispatcher.tick()
    await began.wait()
    await host.database.write(stop_attempts, org_id=1, job_name="job", wire_ids=[wire_id])
    await host.stopper.tick()
    assert (await host.ended(wire_id)).state is RunState.STOPPED
    assert len(await host.attempts_listed()) == 1


async def test_a_callable_does_not_outlive_its_worker_and_its_run_says_so(host: Host) -> None:
    began = asyncio.Event()

    async def endless() -> None:
        began.set()
        await asyncio.Event().wait()

    host.functions["endless"] = endless
    await host.job("job", "endless")
    wire_id = await host.start("job")
    await host.dispatcher.tick()
    await began.wait()
    await host.attempts.close()
    ended = await host.ended(wire_id)
    assert (ended.state, ended.message) == (RunState.FAILED, "the worker was stopped while it ran")


async def test_stopping_a_queued_run_never_starts_it(host: Host) -> None:
    ran: list[str] = []
    host.functions["good"] = lambda: ran.append("ran")
    await host.job("job", "good")
    wire_id = await host.start("job")
    await host.database.write(stop_attempts, org_id=1, job_name="job", wire_ids=[wire_id])
    await host.dispatcher.tick()
    assert (await host.attempt(wire_id)).state is RunState.STOPPED
    assert not ran


async def test_a_freed_slot_starts_the_oldest_waiting_run(host: Host) -> None:
    host.functions["good"] = nothing
    await host.job("job", "good", max_concurrent=1, queueing=True)
    first, second, third = [await host.start("job") for _ in range(3)]
    assert [(await host.attempt(each)).state for each in (first, second, third)] == ["STARTING", "WAITING", "WAITING"]
    await host.dispatcher.tick()
    await host.ended(first)
    assert [(await host.attempt(each)).state for each in (second, third)] == ["STARTING", "WAITING"]


async def test_the_actions_of_a_fire_run_one_after_another_whatever_their_outcome(host: Host) -> None:
    host.functions.update(good=nothing, bad=_fail)
    await host.job("first", "bad")
    await host.job("second", "good")
    await host.trigger("both", "* * * * * ?", "first", "second")
    host.database.offset_us += 1_000_000
    await host.ticker.tick()
    states = {attempt.job_name: attempt for attempt in await host.attempts_listed()}
    assert (states["first"].state, states["second"].state) == ("STARTING", "WAITING")
    await host.dispatcher.tick()
    assert (await host.ended(states["first"].wire_id)).state is RunState.FAILED
    await host.dispatcher.tick()
    assert (await host.ended(states["second"].wire_id)).state is RunState.SUCCEEDED


async def test_a_callable_whose_lease_is_over_when_its_claim_is_answered_never_begins(host: Host) -> None:
    called: list[str] = []
    host.functions["good"] = lambda: called.append("good")
    await host.job("job", "good")
    wire_id = await host.start("job")
    claims = await host.work.claim(Claimant(node="node-one", host="host-one"), limit=1, ttl_seconds=TTL_SECONDS)
    await host.attempts.launch(claims.claimed, clock.monotonic() - TTL_SECONDS)  # it stood still since then
    ended = await host.ended(wire_id)
    assert (ended.state, ended.message) == (RunState.FAILED, "its lease ran out before it could start")
    assert called == []


async def test_the_rescuer_decides_a_lost_workers_run_only_after_its_lease(host: Host) -> None:
    await host.job("job", "endless", retries=1)
    wire_id = await host.start("job")
    await host.work.claim(host.dispatcher._claimant, limit=1, ttl_seconds=5)
    await host.rescuer.tick()
    assert (await host.attempt(wire_id)).state is RunState.STARTING
    host.database.offset_us += 7_000_000
    await host.rescuer.tick()
    lost = await host.attempt(wire_id)
    assert lost.state is RunState.FAILED
    assert "worker lost" in (lost.message or "")
    assert (await host.attempt(f"{wire_id}_attempt_1")).state is RunState.STARTING


async def test_a_lost_workers_late_report_changes_nothing(host: Host) -> None:
    await host.job("job", "endless")
    wire_id = await host.start("job")
    (claimed,) = (await host.work.claim(host.dispatcher._claimant, limit=1, ttl_seconds=5)).claimed
    host.database.offset_us += 7_000_000
    await host.rescuer.tick()
    late = Outcome(attempt_id=claimed.attempt.id, fence=claimed.attempt.fence, state=RunState.SUCCEEDED)
    beginning = Beginning(attempt_id=claimed.attempt.id, fence=claimed.attempt.fence)
    assert await host.work.record([beginning], []) == {claimed.attempt.id}
    await host.work.record([beginning], [late])
    assert (await host.attempt(wire_id)).state is RunState.FAILED


async def test_an_attempt_that_nobody_here_started_is_lost_when_the_worker_restarts(host: Host, tmp_path: Path) -> None:
    await host.job("job", "good")
    wire_id = await host.start("job")
    claimant = host.dispatcher._claimant
    await host.work.claim(claimant, limit=1, ttl_seconds=60)
    reborn = Host(host.database, tmp_path, "one")
    object.__setattr__(reborn.attempts._claimant, "node", "node-reborn")
    await reborn.attempts.open()
    ended = await reborn.ended(wire_id)
    await reborn.attempts.close()
    assert ended.state is RunState.FAILED
    assert "worker lost" in (ended.message or "")


async def test_a_run_that_takes_longer_than_its_job_said_is_told_of_once(host: Host) -> None:
    await host.job("job", "endless", notify_after_seconds=60)
    wire_id = await host.start("job")
    (claimed,) = (await host.work.claim(host.dispatcher._claimant, limit=1, ttl_seconds=600)).claimed
    await host.work.record([Beginning(attempt_id=claimed.attempt.id, fence=claimed.attempt.fence)], [])
    watcher = Watcher(host.database, every_seconds=5)
    await watcher.tick()
    assert await host.database.read(list_messages, org_id=1, before=2**62, limit=9) == []
    host.database.offset_us += 61_000_000
    assert await watcher.tick() == 5
    await watcher.tick()
    (message,) = await host.database.read(list_messages, org_id=1, before=2**62, limit=9)
    assert (message.kind, message.subject) == ("late", "job")
    assert wire_id in message.body


async def test_an_unknown_callable_fails_its_run_with_a_reason(host: Host) -> None:
    await host.job("job", "os:system")
    wire_id = await host.start("job")
    await host.dispatcher.tick()
    ended = await host.ended(wire_id)
    assert ended.state is RunState.FAILED
    assert "os:system" in (ended.message or "")


async def test_a_claim_whose_answer_was_lost_is_given_back_and_runs_once(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[str] = []
    host.functions["good"] = lambda: ran.append("ran")
    await host.job("job", "good", max_concurrent=0)
    known, lost = await host.start("job"), await host.start("job")
    claim = host.work.claim

    async def claim_one(claimant: Claimant, *, limit: int, ttl_seconds: float) -> Claims:
        return await claim(claimant, limit=1, ttl_seconds=ttl_seconds)

    async def lose_the_answer(claimant: Claimant, *, limit: int, ttl_seconds: float) -> Claims:
        await claim(claimant, limit=limit, ttl_seconds=ttl_seconds)
        raise CommitUnknown("the answer was lost")

    monkeypatch.setattr(host.work, "claim", claim_one)
    await host.dispatcher.tick()
    monkeypatch.setattr(host.work, "claim", lose_the_answer)
    with pytest.raises(CommitUnknown):
        await host.dispatcher.tick()
    monkeypatch.setattr(host.work, "claim", claim)
    await host.dispatcher.tick()
    assert [(await host.ended(each)).state for each in (known, lost)] == [RunState.SUCCEEDED] * 2
    assert ran == ["ran", "ran"]


async def test_the_recorder_keeps_what_the_store_did_not_take() -> None:
    stored: list[int] = []

    class Flaky(StoreWork):
        def __init__(self) -> None:
            self.calls = 0

        async def record(self, beginnings: Sequence[Beginning], outcomes: Sequence[Outcome]) -> frozenset[int]:
            self.calls += 1
            if self.calls == 1:
                raise Unavailable("gone")
            return frozenset()

    async def keep(ids: Collection[int]) -> None:
        stored.extend(ids)

    recorder = Recorder(Flaky(), stored=keep, lost=keep)
    recorder.ended(Outcome(attempt_id=7, fence=1, state=RunState.SUCCEEDED))
    with pytest.raises(Unavailable):
        await recorder.tick()
    await recorder.tick()
    assert stored == [7]
    assert recorder.idle


async def test_ends_wait_a_moment_while_something_is_more_urgent(monkeypatch: pytest.MonkeyPatch) -> None:
    now, urgent, stored = [100.0], [True], list[int]()
    monkeypatch.setattr(clock, "monotonic", lambda: now[0])

    class Willing(StoreWork):
        def __init__(self) -> None: ...

        async def record(self, beginnings: Sequence[Beginning], outcomes: Sequence[Outcome]) -> frozenset[int]:
            return frozenset()

    async def keep(ids: Collection[int]) -> None:
        stored.extend(ids)

    recorder = Recorder(Willing(), stored=keep, lost=keep, urgent=lambda: urgent[0])

    recorder.ended(Outcome(attempt_id=1, fence=1, state=RunState.SUCCEEDED))
    assert 0 < await recorder.tick() <= WAIT_SECONDS  # it looks again soon
    assert stored == []
    now[0] += WAIT_SECONDS  # it is still urgent, and they have waited long enough
    await recorder.tick()
    assert stored == [1]

    recorder.ended(Outcome(attempt_id=2, fence=1, state=RunState.SUCCEEDED))
    recorder.begun(Beginning(attempt_id=3, fence=1))  # what runs for long is to be seen
    await recorder.tick()
    assert stored == [1, 2]

    recorder.ended(Outcome(attempt_id=4, fence=1, state=RunState.SUCCEEDED))
    urgent[0] = False
    await recorder.tick()
    assert stored == [1, 2, 4]


async def _fail() -> None:
    raise ValueError("no luck")
