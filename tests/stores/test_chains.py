"""Chains on every store: defined, redefined, switched and deleted as one with their flow, trigger and job."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from tests.stores.chaining import EVERY_MINUTE, NOT_YET, PLACE, PROBE_SECONDS, RULES, Chaining, spec
from tests.stores.store import Store
from waterclock.domain.chain import Chain, Gate, Step, Switch, schedule_of
from waterclock.domain.errors import AlreadyExists, BadSchedule, NotAllowed, NotFound
from waterclock.domain.flow import FlowState
from waterclock.domain.gate import Probing
from waterclock.domain.message import MessageKind
from waterclock.domain.moment import MINUTE, from_datetime, to_datetime
from waterclock.domain.role import Role
from waterclock.domain.run import RunState
from waterclock.domain.trigger import FireOutcome, FireRules, TriggerState
from waterclock.stores.base import Database
from waterclock.stores.ops import chain_runs, chains, flows, jobs


@pytest.fixture
async def chaining(database: Database) -> Chaining:
    """Ten seconds past a minute; main lives."""
    chaining = Chaining(database)
    await chaining.pass_minute()
    await chaining.lives()
    return chaining


async def due(chaining: Chaining) -> None:
    """A minute later, and main still lives."""
    await chaining.pass_minute()
    await chaining.lives()


async def get(chaining: Chaining, chain: Chain) -> Chain:
    return await chaining.database.read(chains.get_chain, org_id=1, chain_id=chain.id)


def numbers(chain: Chain) -> set[int]:
    parts: list[Gate | Step] = [*chain.spec.gates, *chain.spec.steps]
    return {part.id for part in parts}


async def listed(chaining: Chaining, **how: Any) -> list[int]:
    page = {"org_id": 1, "after": 0, "limit": 100, **how}
    return [chain.id for chain in await chaining.database.read(chains.list_chains, **page)]


async def test_a_chain_is_kept_as_it_was_given_with_numbers_for_its_parts(chaining: Chaining) -> None:
    given = replace(
        spec(3, 1, gates=2),
        job_desc="밤 적재",
        timezone="Asia/Seoul",
        timestr="/5 * * * *",
        dep_ot=90.5,
        bkp_flag=True,
        tag="important",
        subtag="nacht",
        parallel=False,
        dep_err_tolerance=0,
        probe_seconds=0.25,
    )
    made = await chaining.database.write(
        chains.create_chain, org_id=1, owner="ann", spec=given, probe_seconds=PROBE_SECONDS
    )
    assert await get(chaining, made) == made
    assert len(numbers(made)) == 4
    assert min(numbers(made)) > 0
    without = replace(
        made.spec,
        gates=tuple(replace(gate, id=0) for gate in made.spec.gates),
        steps=tuple(replace(step, id=0) for step in made.spec.steps),
    )
    assert without == given
    assert (made.name, made.title, made.owner, made.problem) == (f"chain-{made.id}", "밤 적재", "ann", None)
    first = schedule_of(given).next_after(to_datetime(await chaining.now()))
    assert first
    assert made.next_fire_at == from_datetime(first)


async def test_it_is_a_flow_a_trigger_and_a_job_of_its_own_namespace(chaining: Chaining) -> None:
    made = await chaining.chain(1, gates=1, bkp_flag=True)
    flow = (await chaining.database.read(flows.get_flows, **PLACE, names=[made.name]))[made.name]
    assert (flow.max_concurrent, flow.roles) == (1, (Role.MAIN, Role.BKP))
    assert flow.graph
    assert flow.graph.strict
    assert flow.graph.nodes[0].probing == Probing(every_seconds=PROBE_SECONDS, for_seconds=120, tolerates=5)
    job = await chaining.database.read(jobs.get_job, **PLACE, name=made.name)
    assert job
    assert (job.spec.kind, job.spec.max_concurrent) == ("chain", 0)
    assert (await chaining.trigger_of(made)).state is TriggerState.RUNNING


async def test_chains_are_listed_by_number_by_tag_and_by_switch(chaining: Chaining) -> None:
    one = await chaining.chain(1, tag="a")
    two = await chaining.chain(1, tag="b", switch=Switch.OFF)
    three = await chaining.chain(1, tag="a", switch=Switch.OFF)
    assert await listed(chaining) == [one.id, two.id, three.id]
    assert await listed(chaining, after=one.id, limit=1) == [two.id]
    assert await listed(chaining, tag="a") == [one.id, three.id]
    assert await listed(chaining, switch=Switch.OFF) == [two.id, three.id]
    assert await listed(chaining, switch=Switch.ON, tag="b") == []
    assert await listed(chaining, org_id=2) == []


async def test_a_number_that_is_brought_along_is_kept_and_never_given_again(chaining: Chaining) -> None:
    first = await chaining.chain(1)
    kept = await chaining.chain(1, chain_id=first.id + 1)
    assert kept.id == first.id + 1
    assert (await chaining.chain(1)).id == first.id + 2
    with pytest.raises(AlreadyExists):
        await chaining.chain(1, chain_id=kept.id)
    assert len(await listed(chaining)) == 3


async def test_of_many_that_bring_the_same_number_along_one_gets_it(shared: Store) -> None:
    worlds = [Chaining(each) for each in await shared.open_many(3)]
    answers = await asyncio.gather(*(world.chain(1, chain_id=7) for world in worlds), return_exceptions=True)
    assert sorted(isinstance(answer, AlreadyExists) for answer in answers) == [False, True, True]
    assert await listed(worlds[0]) == [7]


async def test_what_an_import_brought_in_is_known_by_its_source_and_never_made_twice(shared: Store) -> None:
    given: dict[str, Any] = {"org_id": 1, "owner": "ann", "spec": spec(1), "probe_seconds": PROBE_SECONDS}
    stores = await shared.open_many(3)
    makers = [store.write(chains.create_chain, **given, source="schedulerDB#12") for store in stores]
    made = await asyncio.gather(*makers, return_exceptions=True)
    assert sorted(isinstance(each, AlreadyExists) for each in made) == [False, True, True]
    assert [each.source for each in made if isinstance(each, Chain)] == ["schedulerDB#12"]
    with pytest.raises(AlreadyExists, match="chain from 'schedulerDB#12' already exists"):
        await stores[0].write(chains.create_chain, **given, source="schedulerDB#12")
    await stores[0].write(chains.create_chain, **given, source="seoul#12")


async def test_what_cannot_be_read_as_a_schedule_comes_in_only_when_it_is_off(chaining: Chaining) -> None:
    with pytest.raises(BadSchedule):
        await chaining.chain(1, timestr="61 * * * *")
    assert await listed(chaining) == []
    made = await chaining.chain(1, timestr="61 * * * *", switch=Switch.OFF)
    assert made.problem
    assert "61" in made.problem
    with pytest.raises(BadSchedule):
        await chaining.switch(made, Switch.ON)
    assert (await get(chaining, made)).spec.switch is Switch.OFF
    run_id = await chaining.start_chain(made)
    assert await chaining.finish_all() == [["s1"]]
    assert (await chaining.run(run_id)).state is FlowState.COMPLETED
    mended = await chaining.update(made, replace(made.spec, timestr=EVERY_MINUTE, switch=Switch.ON))
    assert mended.problem is None
    assert mended.next_fire_at


async def test_an_update_keeps_the_numbers_of_parts_that_run_the_same_program(chaining: Chaining) -> None:
    made = await chaining.chain(1, 2, gates=2)
    (first, second), (gate, _) = made.spec.steps, made.spec.gates
    changed = replace(
        made.spec,
        job_desc="renamed",
        gates=(Gate(command="other.py", ottime=1), replace(gate, id=0, ottime=9)),
        steps=(replace(second, id=0, step_lvl=0), Step(command="new.py", step_lvl=5, ottime=1), replace(first, id=0)),
    )
    now = await chaining.update(made, changed)
    assert [step.id for step in now.spec.steps][::2] == [second.id, first.id]
    assert now.spec.gates[1].id == gate.id
    fresh = {now.spec.steps[1].id, now.spec.gates[0].id}
    assert not fresh & numbers(made)
    assert (now.version, now.title, now.spec.steps[0].step_lvl) == (made.version + 1, "renamed", 0)
    assert await get(chaining, made) == now


async def test_of_two_parts_with_one_program_the_one_that_is_the_same_keeps_its_number(chaining: Chaining) -> None:
    step = Step(command="twice.py", step_lvl=1, ottime=1)
    made = await chaining.update(await chaining.chain(1), replace(spec(), steps=(step, replace(step, step_lvl=2))))
    one, two = made.spec.steps
    changed = replace(made.spec, steps=(replace(step, step_lvl=7), replace(one, id=0)))
    now = await chaining.update(made, changed)
    assert [(each.step_lvl, each.id) for each in now.spec.steps] == [(7, two.id), (1, one.id)]


async def test_an_update_is_for_later_runs_and_the_live_one_goes_on_as_it_began(chaining: Chaining) -> None:
    made = await chaining.chain(1, 2)
    run_id = await chaining.start_chain(made)
    await chaining.update(made, replace(made.spec, steps=(Step(command="s9.py", step_lvl=1, ottime=1),)))
    assert await chaining.finish_all() == [["s1"], ["s2"]]
    assert (await chaining.run(run_id)).state is FlowState.COMPLETED
    await chaining.start_chain(made)
    assert await chaining.finish_all() == [["s9"]]


async def test_a_new_timestr_is_due_from_now_on(chaining: Chaining) -> None:
    made = await chaining.chain(1)
    await due(chaining)  # the old instant is due, and not fired yet
    now = await chaining.update(made, replace(made.spec, timestr="*/2 * * * *"))
    assert now.next_fire_at
    assert now.next_fire_at > await chaining.now()
    assert (await chaining.fire_chains()).triggers == 0


async def test_the_same_timestr_keeps_what_is_due(chaining: Chaining) -> None:
    made = await chaining.chain(1)
    now = await chaining.update(made, replace(made.spec, job_desc="renamed"))
    assert now.next_fire_at == made.next_fire_at
    await due(chaining)
    assert (await chaining.fire_chains()).runs == 1


async def test_switching_off_lets_nothing_fire_and_what_runs_goes_on(chaining: Chaining) -> None:
    made = await chaining.chain(1, 2)
    run_id = await chaining.start_chain(made)
    off = await chaining.switch(made, Switch.OFF)
    assert (off.spec.switch, off.next_fire_at) == (Switch.OFF, None)
    await chaining.switch(made, Switch.OFF)  # said again: no error
    await due(chaining)
    assert (await chaining.fire_chains()).triggers == 0
    assert await chaining.finish_all() == [["s1"], ["s2"]]
    assert (await chaining.run(run_id)).state is FlowState.COMPLETED
    on = await chaining.switch(made, Switch.ON)
    assert on.next_fire_at
    assert on.next_fire_at > await chaining.now()  # what it missed while it was off is not made up for
    await due(chaining)
    assert (await chaining.fire_chains()).runs == 1


async def test_an_update_may_switch(chaining: Chaining) -> None:
    made = await chaining.chain(1)
    off = await chaining.update(made, replace(made.spec, switch=Switch.OFF, timestr="*/3 * * * *"))
    assert off.next_fire_at is None
    on = await chaining.update(made, replace(off.spec, switch=Switch.ON))
    first = schedule_of(on.spec).next_after(to_datetime(await chaining.now()))
    assert first
    assert on.next_fire_at == from_datetime(first)
    by_hand = await chaining.update(made, replace(on.spec, main_flag=False))
    assert (by_hand.spec.switch, by_hand.next_fire_at) == (Switch.ON, None)


async def test_deleting_takes_everything_but_its_runs(chaining: Chaining) -> None:
    made = await chaining.chain(1, gates=1)
    run_id = await chaining.start_chain(made)
    with pytest.raises(NotAllowed, match="has a live run"):
        await chaining.delete(made)
    assert await get(chaining, made) == made
    await chaining.finish_all()
    await chaining.delete(made)
    for missing in (get(chaining, made), chaining.delete(made), chaining.start_chain(made)):
        with pytest.raises(NotFound):
            await missing
    assert not await chaining.database.read(flows.get_flows, **PLACE, names=[made.name])
    assert await chaining.database.read(jobs.get_job, **PLACE, name=made.name) is None
    shown = await chaining.whole(run_id)
    assert (shown.chain, shown.run.state) == (None, FlowState.COMPLETED)
    await due(chaining)
    assert (await chaining.fire_chains()).triggers == 0
    assert (await chaining.chain(1, chain_id=made.id)).id == made.id


async def test_the_rule_is_asked_before_anything_is_changed(chaining: Chaining) -> None:
    made = await chaining.chain(1)

    def nobody(chain: Chain) -> None:
        raise NotAllowed(chain.title)

    key: dict[str, Any] = {"org_id": 1, "chain_id": made.id, "allow": nobody}
    changed = replace(made.spec, switch=Switch.OFF)
    for refused in (
        chaining.database.write(chains.update_chain, **key, spec=changed, probe_seconds=1),
        chaining.database.write(chains.switch_chain, **key, switch=Switch.OFF),
        chaining.database.write(chains.delete_chain, **key),
    ):
        with pytest.raises(NotAllowed):
            await refused
    assert await get(chaining, made) == made
    with pytest.raises(NotFound):
        await chaining.database.write(chains.switch_chain, **{**key, "org_id": 2}, switch=Switch.OFF)


async def test_a_fire_makes_one_run_with_its_gates(chaining: Chaining) -> None:
    made = await chaining.chain(1, 1, gates=2)
    await due(chaining)
    fired = await chaining.fire_chains()
    assert (fired.triggers, fired.runs) == (1, 1)
    run = await chaining.only_run(made)
    assert (run.run_at, run.role, run.trigger_name) == (made.next_fire_at, Role.MAIN, made.name)
    assert await chaining.nodes(run.id) == {"g1": "STARTING", "g2": "STARTING"}
    assert await chaining.take(roles=("bkp",)) == {}
    gate = (await chaining.take())["g1"]
    assert (gate.kind, gate.role, gate.timeout_seconds) == ("chain", "main", 60)
    assert gate.arguments == {"env": "/usr/bin/python3", "command": "g1.py", "folder": "depfolder"}
    assert gate.settings == {"fire_at": made.next_fire_at, "flow_run_id": run.id}
    (fire,) = await chaining.fires(made)
    assert (fire.outcome, fire.fire_at) == (FireOutcome.FIRED, made.next_fire_at)
    assert await chaining.messages() == []


async def test_a_fire_while_the_last_run_lives_is_skipped_with_a_message(chaining: Chaining) -> None:
    made = await chaining.chain(1, gates=1, tag="important", job_desc="night load")
    for _ in range(2):
        await due(chaining)
        await chaining.fire_chains()
        await chaining.finish(g1=NOT_YET)
    assert [fire.outcome for fire in await chaining.fires(made)] == [FireOutcome.FIRED, FireOutcome.SKIPPED]
    (_, skipped) = await chaining.fires(made)
    assert skipped.reason == "its last run still lives"
    assert len(await chaining.runs(made)) == 1
    (message,) = await chaining.messages()
    assert (message.kind, message.severity) == (MessageKind.SKIPPED, "warning")
    assert (message.chain_id, message.tag, message.subject) == (made.id, "important", "night load")
    assert message.body.endswith("its last run still lives")


async def test_of_several_instants_in_one_round_the_first_runs_and_the_others_are_skipped(chaining: Chaining) -> None:
    made = await chaining.chain(1, timestr="* * * * * ?")
    chaining.pass_time(5)
    await chaining.fire_chains()
    first, *others = await chaining.fires(made)
    assert (first.outcome, (await chaining.only_run(made)).run_at) == (FireOutcome.FIRED, first.fire_at)
    assert len(others) >= 3
    assert {(fire.outcome, fire.reason) for fire in others} == {(FireOutcome.SKIPPED, "its last run still lives")}
    assert len(await chaining.messages()) == len(others)


async def test_what_was_missed_is_one_run_and_one_message_of_the_rest(chaining: Chaining) -> None:
    made = await chaining.chain(1)
    chaining.pass_time(10 * MINUTE / 1_000_000)
    await due(chaining)
    await chaining.fire_chains()
    assert len(await chaining.runs(made)) == 1
    skipped, fired = await chaining.fires(made)
    assert (skipped.outcome, skipped.count, fired.outcome) == (FireOutcome.SKIPPED, 10, FireOutcome.FIRED)
    (message,) = await chaining.messages()
    assert (message.kind, message.chain_id) == (MessageKind.SKIPPED, made.id)
    assert "missed: later than 60 s" in message.body


async def test_a_role_that_is_down_is_a_skipped_fire_with_the_reason(chaining: Chaining) -> None:
    made = await chaining.chain(1)
    await chaining.pass_minute()  # the heartbeat is a minute old
    await chaining.fire_chains()
    (fire,) = await chaining.fires(made)
    reason = "main is down: no worker of that role has a heartbeat"
    assert (fire.outcome, fire.reason) == (FireOutcome.SKIPPED, reason)
    (message,) = await chaining.messages()
    assert message.body.endswith(reason)
    assert await chaining.runs(made) == []
    with pytest.raises(NotAllowed, match="main is down"):
        await chaining.start_chain(made)


@pytest.mark.parametrize(
    ("main", "bkp", "living", "role"),
    [
        (1, 1, (Role.MAIN, Role.BKP), Role.MAIN),
        (1, 1, (Role.BKP,), Role.BKP),
        (0, 1, (Role.MAIN, Role.BKP), Role.BKP),
    ],
)
async def test_main_runs_it_while_it_lives_and_bkp_when_it_does_not(
    chaining: Chaining, main: int, bkp: int, living: tuple[Role, ...], role: Role
) -> None:
    made = await chaining.chain(1, main_flag=bool(main), bkp_flag=bool(bkp))
    await chaining.pass_minute()
    await chaining.lives(*living)
    await chaining.fire_chains()
    assert (await chaining.only_run(made)).role is role
    assert set(await chaining.take(roles=(role,))) == {"s1"}


async def test_the_failover_time_is_the_rules(chaining: Chaining) -> None:
    made = await chaining.chain(1)
    await chaining.pass_minute()
    await chaining.fire_chains({"chains": FireRules(sequential=False, failover_seconds=300)})
    assert (await chaining.only_run(made)).state is FlowState.RUNNING


async def test_neither_flag_never_fires_and_runs_by_hand_on_any_worker(chaining: Chaining) -> None:
    made = await chaining.chain(1, main_flag=False, bkp_flag=False)
    assert (made.spec.switch, made.next_fire_at) == (Switch.ON, None)
    await chaining.pass_minute()
    assert (await chaining.fire_chains()).triggers == 0
    run_id = await chaining.start_chain(made)
    assert (await chaining.run(run_id)).role is Role.ANY
    assert set(await chaining.take(roles=())) == {"s1"}


async def test_a_chain_and_its_runs_are_its_organisations(chaining: Chaining) -> None:
    made = await chaining.chain(1)
    run_id = await chaining.start_chain(made)
    for missing in (
        chaining.database.read(chain_runs.get_chain_run, org_id=2, run_id=run_id),
        chaining.database.write(chain_runs.stop_chain_run, org_id=2, run_id=run_id, rules=RULES),
        chaining.database.write(chain_runs.start_chain, org_id=2, chain_id=made.id, requested_by="eve", rules=RULES),
        chaining.database.read(chains.get_chain, org_id=2, chain_id=made.id),
    ):
        with pytest.raises(NotFound):
            await missing
    assert (await chaining.nodes(run_id)) == {"s1": RunState.STARTING}
