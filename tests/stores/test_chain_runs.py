"""Runs of chains on every store: level by level, the first failure told once, stopped, and raced."""

import asyncio
import random
from dataclasses import replace

import pytest

from tests.stores.chaining import ERROR, NOT_YET, PASSED, Chaining
from tests.stores.store import Store
from waterclock.domain.chain import Chain, Switch
from waterclock.domain.errors import NotAllowed, NotFound, WrongState
from waterclock.domain.flow import FLOW_LIVE, FlowState
from waterclock.domain.message import LONGEST_OUTPUT, Message, MessageKind
from waterclock.domain.outcome import Outcome
from waterclock.domain.run import LIVE, Attempt, RunState
from waterclock.stores.base import Database
from waterclock.stores.ops import chain_runs, ending

OK, BAD = RunState.SUCCEEDED, RunState.FAILED


@pytest.fixture
async def chaining(database: Database) -> Chaining:
    chaining = Chaining(database)
    await chaining.pass_minute()
    await chaining.lives()
    return chaining


async def test_levels_run_in_order_the_steps_of_one_side_by_side(chaining: Chaining) -> None:
    run_id = await chaining.start_chain(await chaining.chain(5, 1, 5, 2, gates=1))
    assert await chaining.finish_all() == [["g1"], ["s2"], ["s4"], ["s1", "s3"]]
    run = await chaining.run(run_id)
    assert (run.state, run.message, run.ended_at is not None) == (FlowState.COMPLETED, None, True)
    assert (run.requested_by, run.trigger_name) == ("bob", None)


async def test_one_after_another_where_the_chain_says_so(chaining: Chaining) -> None:
    await chaining.start_chain(await chaining.chain(1, 1, 1, parallel=False))
    assert await chaining.finish_all() == [["s1"], ["s2"], ["s3"]]


async def test_a_failure_in_level_two_of_four_fails_the_chain_and_tells_the_end_of_its_output(
    chaining: Chaining,
) -> None:
    chain = await chaining.chain(1, 2, 3, 4, tag="important", job_desc="night load")
    run_id = await chaining.start_chain(chain)
    await chaining.finish()
    step = (await chaining.take())["s2"]
    output = "x" * 10_000 + "\nvalue\0error: 끝"
    await chaining.end(step, state=BAD, exit_code=3, message="exit code 3", output=output)
    assert await chaining.finish_all() == []
    assert await chaining.nodes(run_id) == {"s1": OK, "s2": BAD}
    run = await chaining.run(run_id)
    assert (run.state, run.message) == (FlowState.ERROR, "level 2, 's2.py': FAILED: exit code 3")
    (message,) = await chaining.messages()
    assert (message.kind, message.severity, message.subject) == (MessageKind.FAILED, "error", "night load")
    assert (message.chain_id, message.flow_run_id, message.run_id) == (chain.id, run_id, step.run_id)
    assert (message.tag, message.read_at) == ("important", None)
    head, said = message.body.split("\n", 1)
    assert head == run.message
    assert said == output.replace("\0", "\ufffd")[-LONGEST_OUTPUT:]


async def test_two_failures_in_one_level_are_two_messages_and_the_run_says_the_first(chaining: Chaining) -> None:
    run_id = await chaining.start_chain(await chaining.chain(1, 1, 1, 2))
    taken = await chaining.take()
    await chaining.end(taken["s3"], state=RunState.TIMEOUT, message="took longer")
    await chaining.end(taken["s1"], state=BAD, message="exit code 1")
    assert (await chaining.run(run_id)).state is FlowState.RUNNING  # one step of the level still runs
    await chaining.end(taken["s2"])
    run = await chaining.run(run_id)
    assert (run.state, run.message) == (FlowState.ERROR, "level 1, 's3.py': TIMEOUT: took longer")
    assert [message.body for message in await chaining.messages()] == [
        "level 1, 's3.py': TIMEOUT: took longer",
        "level 1, 's1.py': FAILED: exit code 1",
    ]
    assert await chaining.take() == {}


async def test_two_failures_in_one_write_are_told_in_their_order(chaining: Chaining) -> None:
    run_id = await chaining.start_chain(await chaining.chain(1, 1))
    taken = await chaining.take()
    await chaining.end(taken["s2"], taken["s1"], state=BAD)
    assert (await chaining.run(run_id)).message == "level 1, 's2.py': FAILED"
    assert [message.body for message in await chaining.messages()] == [
        "level 1, 's2.py': FAILED",
        "level 1, 's1.py': FAILED",
    ]


async def test_a_step_of_the_level_that_nobody_has_claimed_is_given_up_when_another_fails(chaining: Chaining) -> None:
    run_id = await chaining.start_chain(await chaining.chain(1, 1, 1))
    taken = await chaining.take(limit=1)
    assert set(taken) == {"s1"}
    await chaining.end(taken["s1"], state=BAD)
    assert await chaining.nodes(run_id) == {"s1": BAD, "s2": RunState.STOPPED, "s3": RunState.STOPPED}
    assert (await chaining.run(run_id)).state is FlowState.ERROR
    assert len(await chaining.messages()) == 1
    assert await chaining.take() == {}


async def test_what_a_reason_says_may_hold_anything(chaining: Chaining) -> None:
    run_id = await chaining.start_chain(await chaining.chain(1))
    await chaining.end((await chaining.take())["s1"], state=BAD, message="no\0 such \udc80 file")
    run = await chaining.run(run_id)
    assert run.state is FlowState.ERROR
    assert run.message
    assert "such" in run.message
    (message,) = await chaining.messages()
    assert "such" in message.body


async def test_a_lost_worker_fails_the_chain_and_its_step_is_not_run_again(chaining: Chaining) -> None:
    run_id = await chaining.start_chain(await chaining.chain(1, 2))
    await chaining.take()
    chaining.pass_time(120)
    await chaining.rescue()
    run = await chaining.run(run_id)
    assert run.state is FlowState.ERROR
    assert run.message
    assert "worker lost" in run.message
    assert await chaining.take() == {}
    assert len(await chaining.messages()) == 1


async def test_an_end_that_is_said_twice_doubles_nothing(chaining: Chaining) -> None:
    run_id = await chaining.start_chain(await chaining.chain(1, 2, 3))
    for script, state in (("s1", OK), ("s2", BAD)):
        attempt = (await chaining.take())[script]
        assert await chaining.end(attempt, state=state) == {attempt.id}
        assert await chaining.end(attempt, state=state) == frozenset()
    assert await chaining.nodes(run_id) == {"s1": OK, "s2": BAD}
    assert len(await chaining.messages()) == 1


async def test_stopping_waits_for_the_proof_and_tells_nobody(chaining: Chaining) -> None:
    run_id = await chaining.start_chain(await chaining.chain(1, 1, 2))
    taken = await chaining.take(limit=1)
    await chaining.stop_run(run_id)
    assert (await chaining.run(run_id)).state is FlowState.STOPPING
    await chaining.stop_run(run_id)  # said again: no error
    (attempt,) = taken.values()
    await chaining.end(attempt, state=RunState.STOPPED)
    run = await chaining.run(run_id)
    assert (run.state, run.message) == (FlowState.STOPPED, None)
    assert set((await chaining.nodes(run_id)).values()) == {"STOPPED"}
    assert await chaining.messages() == []
    assert await chaining.take() == {}
    with pytest.raises(WrongState, match="has ended already"):
        await chaining.stop_run(run_id)
    with pytest.raises(NotFound):
        await chaining.stop_run(run_id + 1_000)


async def test_a_step_that_fails_by_itself_while_it_is_stopped_is_no_failure_of_the_chain(chaining: Chaining) -> None:
    run_id = await chaining.start_chain(await chaining.chain(1))
    attempt = (await chaining.take())["s1"]
    await chaining.stop_run(run_id)
    await chaining.end(attempt, state=BAD, exit_code=1)
    run = await chaining.run(run_id)
    assert (run.state, run.message) == (FlowState.STOPPED, None)
    assert await chaining.messages() == []


async def test_stopping_one_step_by_its_own_run_fails_the_chain(chaining: Chaining) -> None:
    run_id = await chaining.start_chain(await chaining.chain(1, 2))
    attempt = (await chaining.take())["s1"]
    await chaining.stop(attempt.wire_id)
    await chaining.end(attempt, state=RunState.STOPPED)
    run = await chaining.run(run_id)
    assert (run.state, run.message) == (FlowState.ERROR, "level 1, 's1.py': STOPPED")
    assert [message.kind for message in await chaining.messages()] == [MessageKind.FAILED]
    assert await chaining.take() == {}


async def test_stopping_after_a_failure_ends_as_stopped_with_the_reason_kept(chaining: Chaining) -> None:
    run_id = await chaining.start_chain(await chaining.chain(1, 1))
    taken = await chaining.take()
    await chaining.end(taken["s1"], state=BAD, message="exit code 1")
    await chaining.stop_run(run_id)
    await chaining.end(taken["s2"], state=RunState.STOPPED)
    run = await chaining.run(run_id)
    assert (run.state, run.message) == (FlowState.STOPPED, "level 1, 's1.py': FAILED: exit code 1")
    assert len(await chaining.messages()) == 1


async def test_run_now_ignores_the_switch_and_is_refused_while_a_run_lives(chaining: Chaining) -> None:
    chain = await chaining.chain(1, switch=Switch.OFF)
    run_id = await chaining.start_chain(chain)
    with pytest.raises(NotAllowed, match="the last run of chain"):
        await chaining.start_chain(chain)
    assert await chaining.finish_all() == [["s1"]]
    again = await chaining.start_chain(chain)
    assert again != run_id
    assert [run.id for run in await chaining.runs(chain)] == [again, run_id]
    last = await chaining.database.read(chain_runs.last_chain_runs, chains=[chain])
    assert last[chain.id].id == again


async def test_steps_know_when_their_chain_was_due_whichever_level_they_are_of(chaining: Chaining) -> None:
    chain = await chaining.chain(1, 2)
    await chaining.pass_minute()
    await chaining.lives()
    await chaining.fire_chains()
    run = await chaining.only_run(chain)
    for script in ("s1", "s2"):
        attempt = (await chaining.take())[script]
        assert attempt.settings == {"fire_at": chain.next_fire_at, "flow_run_id": run.id}
        await chaining.end(attempt)


async def test_two_schedulers_fire_a_chain_once(shared: Store) -> None:
    worlds = [Chaining(each) for each in await shared.open_many(3)]
    one = worlds[0]
    await one.lives()
    chains = [await one.chain(1, gates=1) for _ in range(5)]
    for world in worlds:
        await world.pass_minute()
    await one.lives()
    fired = await asyncio.gather(*(world.fire_chains() for world in worlds))
    assert sum(each.runs for each in fired) == 5
    for chain in chains:
        assert (await one.only_run(chain)).run_at == chain.next_fire_at
        assert len(await one.fires(chain)) == 1


async def test_of_many_runs_by_hand_and_a_fire_one_gets_through(shared: Store) -> None:
    worlds = [Chaining(each) for each in await shared.open_many(4)]
    one = worlds[0]
    await one.lives()
    chain = await one.chain(1)
    for world in worlds:
        await world.pass_minute()
    await one.lives()
    await asyncio.gather(one.fire_chains(), *(world.start_chain(chain) for world in worlds[1:]), return_exceptions=True)
    assert len(await one.runs(chain)) == 1


async def test_gates_ends_stops_and_claims_that_race_leave_no_run_half_done(shared: Store) -> None:
    """Twenty chains on four connections: every run comes to an end of its own, whoever won, and no step runs twice."""
    worlds = [Chaining(each, node=f"node{n}", host=f"host{n}") for n, each in enumerate(await shared.open_many(4))]
    one, chances = worlds[0], random.Random(4)
    await one.lives()
    chains = [await one.chain(1, 1, 2, gates=3, dep_err_tolerance=0, probe_seconds=0.01) for _ in range(20)]
    run_ids = [await one.start_chain(chain) for chain in chains]
    stopping = asyncio.gather(*(_stop(worlds[n % 4], run_id) for n, run_id in enumerate(run_ids[::3])))
    working = asyncio.gather(*(_work(world, run_ids, random.Random(chances.random())) for world in worlds))
    await stopping
    began = [wire_id for each in await working for wire_id in each]
    assert len(began) == len(set(began))
    ended = [await one.run(run_id) for run_id in run_ids]
    assert {run.state for run in ended} <= {FlowState.COMPLETED, FlowState.ERROR, FlowState.STOPPED}
    assert all(run.state is not FlowState.COMPLETED or run.gates_passed_at for run in ended)
    for run in ended:
        shown = await one.whole(run.id)
        assert not any(row["state"] in LIVE for row in shown.nodes.values())
        steps = [attempt for node, made in shown.attempts.items() if node.startswith("step") for attempt in made]
        assert len({attempt.run_id for attempt in steps}) == len(steps)
    told = {message.flow_run_id for message in await one.messages()}
    assert told >= {run.id for run in ended if run.state is FlowState.ERROR}


async def _stop(world: Chaining, run_id: int) -> None:
    try:
        await world.stop_run(run_id)
    except WrongState:
        return


async def _work(world: Chaining, run_ids: list[int], chances: random.Random) -> list[str]:
    """Claim a few and end them, together or each alone; until nothing lives any more."""
    began: list[str] = []
    living = True
    while living:
        claimed = [each.attempt for each in await world.claim(limit=8, roles=("", "main"))]
        began += [attempt.wire_id for attempt in claimed]
        await world.begin(*claimed)
        ends = [_end(attempt, chances) for attempt in claimed]
        batches = [ends] if chances.random() < 0.5 else [[end] for end in ends]
        await asyncio.gather(*(world.database.write(ending.end_attempts, batch) for batch in batches))
        living = bool(claimed) or await _any_lives(world, run_ids)
    return began


async def _any_lives(world: Chaining, run_ids: list[int]) -> bool:
    for run_id in run_ids:
        if (await world.run(run_id)).state in FLOW_LIVE:
            return True
    return False


def _end(attempt: Attempt, chances: random.Random) -> Outcome:
    """Well, badly or not yet."""
    well = Outcome(attempt_id=attempt.id, fence=attempt.fence, state=OK)
    if attempt.probe_until is None:
        return replace(well, state=chances.choices((OK, BAD), (90, 10))[0])
    return replace(well, verdict=chances.choices((PASSED, NOT_YET, ERROR), (70, 25, 5))[0])


async def test_whatever_happens_a_run_keeps_the_order_of_its_levels_and_ends_as_its_nodes_did(
    chaining: Chaining, store: Store
) -> None:
    """Lives of chains, by chance: probes and steps that end so or so, lost workers, stops, time that passes."""
    for seed in range(40 if store.kind == "memory" else 8):
        await _live(chaining, random.Random(seed))


async def _live(chaining: Chaining, chances: random.Random) -> None:
    levels = [chances.randrange(3) for _ in range(chances.randint(1, 5))]
    gates, parallel = chances.randrange(3), chances.random() < 0.7
    chain = await chaining.chain(*levels, gates=gates, parallel=parallel, dep_err_tolerance=1, probe_seconds=1)
    told, stopped, held = len(await chaining.messages()), False, dict[str, Attempt]()
    await chaining.lives()
    run_id = await chaining.start_chain(chain)
    while (await chaining.run(run_id)).state in FLOW_LIVE:
        held |= await _taken(chaining, levels, run_id, chances)
        happens = chances.random()
        if happens < 0.03 and not stopped:
            await chaining.stop_run(run_id)
            stopped = True
        elif happens < 0.06:
            chaining.pass_time(120)  # past the leases, and past what the gates have
            await chaining.rescue()
            held.clear()
        elif held:
            attempt = held.pop(chances.choice(sorted(held)))
            await chaining.database.write(ending.end_attempts, [_end(attempt, chances)])
        chaining.pass_time(chances.choice((0.1, 1, 2)))
    assert await chaining.take() == {}
    await _agree(chaining, run_id, stopped, (await chaining.messages())[told:])


async def _taken(chaining: Chaining, levels: list[int], run_id: int, chances: random.Random) -> dict[str, Attempt]:
    """What a worker gets now: no step before all of the levels below it have succeeded."""
    taken = await chaining.take(limit=chances.randint(1, 4))
    ended = await chaining.nodes(run_id) if taken else {}
    for script in taken:
        if script.startswith("s"):
            below = [f"s{n}" for n, level in enumerate(levels, start=1) if level < levels[int(script[1:]) - 1]]
            gates = [name for name in ended if name.startswith("g")]
            assert {ended.get(name) for name in (*below, *gates)} <= {OK}
    return taken


async def _agree(chaining: Chaining, run_id: int, stopped: bool, messages: list[Message]) -> None:
    shown = await chaining.whole(run_id)
    run, states = shown.run, [RunState(row["state"]) for row in shown.nodes.values()]
    whole = len(states) == len(run.graph.nodes) and set(states) == {OK}
    if not stopped:
        assert run.state is (FlowState.COMPLETED if whole else FlowState.ERROR)
        failed = [state for state in states if state not in (OK, RunState.STOPPED)]
        assert len(messages) == len(failed)
    else:
        assert run.state in (FlowState.STOPPED, FlowState.ERROR, FlowState.COMPLETED)
    assert run.message == (messages[0].body if messages else None)
    assert not any(state in LIVE for state in states)
    for node, attempts in shown.attempts.items():
        assert [attempt.number for attempt in attempts] == list(range(len(attempts)))
        assert not any(attempt.state in LIVE for attempt in attempts)
        assert node.startswith("gate") or len(attempts) == 1
        assert sum(attempt.verdict == ERROR for attempt in attempts) <= 2


async def test_a_run_is_shown_with_its_chain_its_nodes_and_what_is_usual(chaining: Chaining) -> None:
    chain: Chain = await chaining.chain(1, 2)
    run_id = await chaining.start_chain(chain)
    await chaining.finish()
    shown = await chaining.whole(run_id)
    assert shown.chain
    assert shown.chain.id == chain.id
    first, second = (f"step-{step.id}" for step in chain.spec.steps)
    assert {node: row["state"] for node, row in shown.nodes.items()} == {first: "SUCCEEDED", second: "STARTING"}
    assert [len(shown.spans[node]) for node in (first, second)] == [1, 0]
