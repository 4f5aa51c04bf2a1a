"""Failover on every store: a run goes on at the other role or ends with the reason, and a claim is never undone."""

import asyncio
from typing import Any, Final

import pytest

from tests.stores.chaining import NOT_YET, PASSED, RULES, Chaining, spec
from tests.stores.store import Store
from waterclock.domain.chain import Chain, Switch
from waterclock.domain.claim import Claimant, Claims
from waterclock.domain.flow import FlowState
from waterclock.domain.role import Role
from waterclock.domain.run import Attempt, RunState
from waterclock.domain.trigger import FireOutcome
from waterclock.engine import failover
from waterclock.engine.failover import Failover, Watch
from waterclock.stores.base import Database, Tx
from waterclock.stores.ops import claiming, nodes
from waterclock.stores.ops.failing_over import FailedOver, fail_over

MAIN, BKP = Role.MAIN, Role.BKP
FAILOVER_SECONDS: Final = RULES["chains"].failover_seconds


class Machines(Chaining):
    """A main and a bkp worker, and chains that are flagged for both unless told."""

    async def begin_chain(self, *levels: int, **more: Any) -> int:
        return await self.start_chain(await self.flagged(*levels, **more))

    async def flagged(self, *levels: int, **more: Any) -> Chain:
        return await self.chain(*levels, **{"job_desc": "nightly", "tag": "important", "bkp_flag": True, **more})

    async def silence(self, *still_living: Role) -> None:
        """Longer than the failover time, for all but these."""
        self.pass_time(FAILOVER_SECONDS + 1)
        for role in still_living:
            await self.lives(role)

    async def fail_over(self) -> FailedOver:
        return await self.database.write(fail_over, rules=RULES, after=0, limit=100)

    async def claim_as(self, role: Role, limit: int = 100) -> list[Attempt]:
        me = Claimant(node=role, host=role, roles=("", role))
        claims = await self.database.write(claiming.claim, claimant=me, limit=limit, ttl_seconds=60)
        return [each.attempt for each in claims.claimed]

    async def run_step(self, role: Role) -> Attempt:
        (attempt,) = await self.claim_as(role)
        await self.begin(attempt)
        await self.end(attempt)
        return attempt


class Stopwatch:
    """The clock that the duty looks at."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.at = 0.0
        monkeypatch.setattr(failover, "clock", self)

    def monotonic(self) -> float:
        return self.at


@pytest.fixture
async def machines(database: Database) -> Machines:
    machines = Machines(database)
    await machines.pass_minute()
    await machines.lives(MAIN, BKP)
    return machines


async def test_a_run_that_nobody_has_begun_goes_on_at_bkp(machines: Machines) -> None:
    run_id = await machines.begin_chain()
    assert (await machines.run(run_id)).role is MAIN
    await machines.silence(BKP)
    assert await machines.fail_over() == FailedOver(moved=(run_id,))
    assert await machines.claim_as(MAIN) == []
    assert (await machines.run_step(BKP)).role == "bkp"
    run = await machines.run(run_id)
    assert (run.role, run.state) == (BKP, FlowState.COMPLETED)
    (message,) = await machines.messages()
    assert (message.kind, message.subject, message.tag, message.flow_run_id) == (
        "failover",
        "nightly",
        "important",
        run_id,
    )
    assert message.body == f"main is down: run {run_id} goes on at bkp; no step of it had begun"


async def test_while_main_is_heard_nothing_is_taken_from_it(machines: Machines) -> None:
    run_id = await machines.begin_chain()
    machines.pass_time(FAILOVER_SECONDS - 5)
    assert await machines.fail_over() == FailedOver()
    await machines.lives(MAIN)
    machines.pass_time(FAILOVER_SECONDS - 5)
    assert await machines.fail_over() == FailedOver()
    assert (await machines.run(run_id)).role is MAIN


async def test_a_worker_that_is_restarted_in_order_keeps_what_its_role_was_given(machines: Machines) -> None:
    run_id = await machines.begin_chain(bkp_flag=False)
    await machines.database.write(nodes.stop_node, node_id="main")
    assert await machines.fail_over() == FailedOver()
    assert (await machines.run_step(MAIN)).role == "main"
    assert (await machines.run(run_id)).state is FlowState.COMPLETED


async def test_a_main_that_drains_gives_away_what_has_not_begun_and_keeps_the_rest(machines: Machines) -> None:
    begun = await machines.begin_chain(1, 2)
    await machines.run_step(MAIN)
    waits = await machines.begin_chain()
    await machines.database.write(nodes.drain_node, node_id="main")
    await machines.lives(MAIN, BKP)
    assert await machines.fail_over() == FailedOver()
    machines.pass_time(FAILOVER_SECONDS)
    await machines.lives(MAIN, BKP)
    assert await machines.fail_over() == FailedOver(moved=(waits,))
    assert (await machines.run(begun)).state is FlowState.RUNNING
    assert (await machines.run(await machines.begin_chain())).role is BKP
    await machines.database.write(nodes.resume_node, node_id="main")
    assert (await machines.run_step(MAIN)).role == "main"
    assert (await machines.run(begun)).state is FlowState.COMPLETED


async def test_a_run_goes_back_to_main_when_bkp_dies_before_it_began(machines: Machines) -> None:
    await machines.silence(BKP)
    run_id = await machines.begin_chain()
    assert (await machines.run(run_id)).role is BKP
    await machines.silence(MAIN)
    assert await machines.fail_over() == FailedOver(moved=(run_id,))
    assert (await machines.run_step(MAIN)).role == "main"


async def test_steps_that_have_begun_on_main_are_never_continued_on_bkp(machines: Machines) -> None:
    run_id = await machines.begin_chain(1, 2)
    await machines.run_step(MAIN)
    await machines.silence(BKP)
    assert await machines.fail_over() == FailedOver(ended=(run_id,))
    assert await machines.claim_as(BKP) == await machines.claim_as(MAIN) == []
    run = await machines.run(run_id)
    assert run.state is FlowState.ERROR
    assert run.message is not None
    assert "level 2, 's2.py': FAILED: main is down, and steps of this run have begun there" in run.message
    (message,) = await machines.messages()
    assert (message.kind, message.severity, message.flow_run_id) == ("chain_failed", "error", run_id)


async def test_a_run_of_main_only_fails_with_the_reason_and_says_so_once(machines: Machines) -> None:
    run_id = await machines.begin_chain(1, 1, bkp_flag=False)
    await machines.silence(BKP)
    assert await machines.fail_over() == FailedOver(ended=(run_id,))
    run = await machines.run(run_id)
    assert run.state is FlowState.ERROR
    assert "main is down" in (run.message or "")
    assert await machines.nodes(run_id) == {"s1": RunState.FAILED, "s2": RunState.STOPPED}
    assert len(await machines.messages()) == 1
    assert await machines.fail_over() == FailedOver()


async def test_a_run_of_bkp_only_fails_when_bkp_is_down(machines: Machines) -> None:
    run_id = await machines.begin_chain(main_flag=False)
    await machines.silence(MAIN)
    assert await machines.fail_over() == FailedOver(ended=(run_id,))
    assert "bkp is down" in ((await machines.run(run_id)).message or "")


async def test_a_run_of_both_fails_when_nobody_is_left(machines: Machines) -> None:
    run_id = await machines.begin_chain()
    await machines.silence()
    assert await machines.fail_over() == FailedOver(ended=(run_id,))
    assert "main and bkp are down" in ((await machines.run(run_id)).message or "")


async def test_what_main_has_claimed_is_left_to_its_lease_and_never_moves(machines: Machines) -> None:
    run_id = await machines.begin_chain()
    (taken,) = await machines.claim_as(MAIN)
    await machines.silence(BKP)
    assert await machines.fail_over() == FailedOver()
    await machines.renew(taken)
    assert await machines.fail_over() == FailedOver()
    machines.pass_time(70)
    await machines.lives(BKP)
    assert await machines.rescue() == {taken.id}
    run = await machines.run(run_id)
    assert (run.role, run.state) == (MAIN, FlowState.ERROR)
    assert await machines.claim_as(BKP) == []


async def test_while_main_holds_a_step_the_others_of_its_run_wait_for_it(machines: Machines) -> None:
    run_id = await machines.begin_chain(1, 1)
    (taken,) = await machines.claim_as(MAIN, limit=1)
    await machines.silence(BKP)
    assert await machines.fail_over() == FailedOver()
    (other,) = await machines.claim_as(MAIN)  # it is back, and its lease still holds
    await machines.end(taken)
    await machines.end(other)
    assert (await machines.run(run_id)).state is FlowState.COMPLETED


async def test_a_claim_that_was_given_back_is_no_beginning(machines: Machines) -> None:
    run_id = await machines.begin_chain()
    (taken,) = await machines.claim_as(MAIN)
    await machines.database.write(claiming.release, node="main", attempt_ids=[taken.id])
    await machines.silence(BKP)
    assert await machines.fail_over() == FailedOver(moved=(run_id,))
    assert (await machines.run_step(BKP)).fence == 2


async def test_a_gate_that_rests_between_probes_is_probed_on_by_bkp(machines: Machines) -> None:
    run_id = await machines.begin_chain(gates=1)
    (probe,) = await machines.claim_as(MAIN)
    await machines.begin(probe)
    await machines.end(probe, verdict=NOT_YET)
    await machines.silence(BKP)
    assert await machines.fail_over() == FailedOver(moved=(run_id,))
    (probe,) = await machines.claim_as(BKP)
    await machines.end(probe, verdict=PASSED)
    assert (await machines.run_step(BKP)).role == "bkp"
    assert (await machines.run(run_id)).state is FlowState.COMPLETED


async def test_the_probe_after_a_lost_one_belongs_to_the_role_that_goes_on(machines: Machines) -> None:
    run_id = await machines.begin_chain(gates=1)
    (lost,) = await machines.claim_as(MAIN)
    await machines.silence(BKP)
    assert await machines.fail_over() == FailedOver(moved=(run_id,))
    assert await machines.claim_as(BKP) == []
    machines.pass_time(60)
    assert await machines.rescue() == {lost.id}
    machines.pass_time(30)
    (probe,) = await machines.claim_as(BKP)
    assert (probe.number, probe.role) == (1, "bkp")


async def test_a_resting_gate_of_main_only_ends_with_the_chain_and_is_not_probed_again(machines: Machines) -> None:
    run_id = await machines.begin_chain(gates=2, bkp_flag=False)
    for probe in await machines.claim_as(MAIN):
        await machines.end(probe, verdict=NOT_YET)
    await machines.silence(BKP)
    assert await machines.fail_over() == FailedOver(ended=(run_id,))
    assert (await machines.run(run_id)).state is FlowState.ERROR
    machines.pass_time(600)
    assert await machines.claim_as(MAIN) == []


async def test_the_flags_of_today_decide(machines: Machines) -> None:
    chain = await machines.flagged(bkp_flag=False)
    run_id = await machines.start_chain(chain)
    await machines.update(chain, spec(bkp_flag=True, switch=Switch.OFF))
    await machines.silence(BKP)
    assert await machines.fail_over() == FailedOver(moved=(run_id,))


async def test_the_next_fires_go_back_to_main_by_themselves(machines: Machines) -> None:
    chain = await machines.flagged()
    for living, role in (((BKP,), BKP), ((MAIN, BKP), MAIN)):
        machines.pass_time(60)
        await machines.lives(*living)
        await machines.fire_chains()
        assert (await machines.fires(chain))[-1].outcome is FireOutcome.FIRED
        assert (await machines.run_step(role)).role == role


async def test_a_fire_of_main_only_while_main_is_down_is_skipped_with_the_reason(machines: Machines) -> None:
    chain = await machines.flagged(bkp_flag=False)
    machines.pass_time(60)
    await machines.lives(BKP)
    await machines.fire_chains()
    (fire,) = await machines.fires(chain)
    assert fire.outcome is FireOutcome.SKIPPED
    assert (fire.reason or "").startswith("main is down")
    assert [message.kind for message in await machines.messages()] == ["chain_skipped"]


async def test_what_is_held_by_a_lease_holds_up_no_other_run(
    machines: Machines, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_ids = [await machines.begin_chain() for _ in range(5)]
    await machines.claim_as(MAIN, limit=2)
    await machines.silence(BKP)
    monkeypatch.setattr(failover, "BATCH", 2)
    watch = Stopwatch(monkeypatch)
    duty = Failover(machines.database, RULES)
    for watch.at in (0.0, 15.0, 30.0):
        await duty.tick()
    roles = [(await machines.run(run_id)).role for run_id in run_ids]
    assert roles == [MAIN, MAIN, BKP, BKP, BKP]


async def test_a_claim_and_a_failover_at_once_have_one_winner(shared: Store) -> None:
    one, *others = [Machines(each) for each in await shared.open_many(4)]
    await one.lives(MAIN, BKP)
    run_ids = [await one.begin_chain() for _ in range(20)]
    for each in (one, *others):
        each.pass_time(FAILOVER_SECONDS + 1)
    await one.lives(BKP)
    done, again, *claimed = await asyncio.gather(
        one.fail_over(), others[0].fail_over(), others[1].claim_as(MAIN), others[2].claim_as(BKP)
    )
    claimed.append(await others[2].claim_as(BKP))
    taken = [attempt.id for mine in claimed for attempt in mine]
    assert len(taken) == len(set(taken)) == len(run_ids)
    assert {*done.moved, *again.moved} <= set(run_ids)
    assert not set(done.moved) & set(again.moved)
    for attempt in claimed[0]:
        assert attempt.role == "main"
    for attempt in (*claimed[1], *claimed[2]):
        assert attempt.role == "bkp"
    assert len(claimed[0]) == len(run_ids) - len(done.moved) - len(again.moved)


async def test_a_worker_paused_in_the_middle_of_its_claim_keeps_what_it_then_commits(shared: Store) -> None:
    if shared.kind == "sqlite":
        return  # one writer: nothing happens in the middle of a claim
    one, main = [Machines(each) for each in await shared.open_many(2)]
    await one.lives(MAIN, BKP)
    first, second = [await one.begin_chain() for _ in range(2)]
    for each in (one, main):
        each.pass_time(FAILOVER_SECONDS + 1)
    await one.lives(BKP)
    claimed, resumed = asyncio.Event(), asyncio.Event()

    async def paused_claim(tx: Tx) -> Claims:
        me = Claimant(node="main", host="main", roles=("main",))
        claims = await claiming.claim(tx, claimant=me, limit=1, ttl_seconds=60)
        claimed.set()
        await resumed.wait()
        return claims

    claiming_it = asyncio.create_task(main.database.write(paused_claim))
    await claimed.wait()
    assert await one.fail_over() == FailedOver(moved=(second,))
    resumed.set()
    (won,) = (await claiming_it).claimed
    assert won.attempt.role == "main"
    assert await one.fail_over() == FailedOver()
    (other,) = await one.claim_as(BKP)
    assert [(await one.run(run_id)).role for run_id in (first, second)] == [MAIN, BKP]
    assert other.id != won.attempt.id


def test_silence_proves_nothing_while_nobody_listened() -> None:
    watch = Watch(longest_gap_seconds=15)
    assert [watch.look(at) for at in (100, 110, 120, 131)] == [0, 10, 20, 31]
    assert watch.look(131 + 16) == 0
    assert watch.look(131 + 16 + 14) == 14


async def test_after_an_outage_of_the_store_the_duty_listens_for_a_failover_time_first(
    machines: Machines, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_id = await machines.begin_chain(bkp_flag=False)
    watch = Stopwatch(monkeypatch)
    duty = Failover(machines.database, RULES)
    for watch.at in (0.0, 1.0, 2.0):
        assert await duty.tick() == 1.0
    machines.pass_time(100)  # the store was away: nobody could say anything
    for watch.at in (102.0, 112.0, 122.0):
        await duty.tick()
    assert (await machines.run(run_id)).state is FlowState.RUNNING
    watch.at = 132.0
    await duty.tick()
    assert (await machines.run(run_id)).state is FlowState.ERROR
