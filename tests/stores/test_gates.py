"""Gates on every store: each probe is planned in the transaction that ends the one before it."""

import pytest

from tests.stores.chaining import ERROR, MINUTES, NOT_YET, PASSED, PROBE_SECONDS, Chaining
from waterclock.domain.flow import FlowState
from waterclock.domain.message import MessageKind
from waterclock.domain.moment import MINUTE, SECOND, seconds
from waterclock.domain.outcome import Outcome
from waterclock.domain.run import RunState
from waterclock.stores.base import Database
from waterclock.stores.ops import ending

GIVEN_UP = "not begun: another part of its chain has failed"


@pytest.fixture
async def chaining(database: Database) -> Chaining:
    chaining = Chaining(database)
    await chaining.lives()
    return chaining


async def test_a_gate_passes_on_its_third_probe_and_every_probe_is_kept(chaining: Chaining) -> None:
    chain = await chaining.chain(1, gates=1)
    run_id = await chaining.start_chain(chain)
    for number, verdict in enumerate((NOT_YET, NOT_YET, PASSED)):
        probe = (await chaining.take())["g1"]
        assert (probe.number, await chaining.take()) == (number, {})
        await chaining.probed(probe, verdict, exit_code=0, output=f"{number}")
        chaining.pass_time(PROBE_SECONDS)
    probes = await chaining.probes(run_id)
    assert [probe.verdict for probe in probes] == [NOT_YET, NOT_YET, PASSED]
    assert [(probe.exit_code, probe.output) for probe in probes] == [(0, "0"), (0, "1"), (0, "2")]
    run = await chaining.run(run_id)
    assert run.gates_passed_at == probes[2].ended_at
    assert await chaining.finish_all() == [["s1"]]
    assert (await chaining.run(run_id)).state is FlowState.COMPLETED
    assert await chaining.messages() == []


async def test_the_next_probe_is_after_the_pause_and_the_last_exactly_at_the_end(chaining: Chaining) -> None:
    chain = await chaining.chain(1, gates=1, dep_ot=60)
    run_id = await chaining.start_chain(chain)
    first = (await chaining.take())["g1"]
    run = await chaining.run(run_id)
    assert first.probe_until == run.created_at + 60 * MINUTE
    await chaining.probed(first, NOT_YET)
    first, second = await chaining.probes(run_id)
    assert first.ended_at
    assert (second.due_at, second.state) == (first.ended_at + seconds(PROBE_SECONDS), RunState.STARTING)
    chaining.pass_time(3_600 - 20)
    await chaining.probed((await chaining.take())["g1"], NOT_YET)
    *_, last = await chaining.probes(run_id)
    assert last.due_at == first.probe_until
    assert await chaining.take() == {}
    chaining.pass_time(20)
    await chaining.probed((await chaining.take())["g1"], NOT_YET)
    assert await chaining.nodes(run_id) == {"g1": "TIMEOUT"}
    run = await chaining.run(run_id)
    assert (run.state, run.gates_passed_at) == (FlowState.ERROR, None)
    assert run.message == "gates, 'gate 1': TIMEOUT: not passed before dep_ot was over"
    chaining.pass_time(3_600)
    assert await chaining.take() == {}


async def test_a_gate_may_pass_with_its_last_probe(chaining: Chaining) -> None:
    run_id = await chaining.start_chain(await chaining.chain(1, gates=1))
    await chaining.probed((await chaining.take())["g1"], NOT_YET)
    chaining.pass_time(MINUTES * 60 + 30)
    await chaining.probed((await chaining.take())["g1"], PASSED)
    assert await chaining.nodes(run_id) == {"g1": "SUCCEEDED", "s1": "STARTING"}


async def test_errors_are_borne_so_often_and_the_next_one_fails_the_chain(chaining: Chaining) -> None:
    chain = await chaining.chain(1, gates=1, dep_err_tolerance=2, dep_ot=60, tag="important", subtag="night")
    run_id = await chaining.start_chain(chain)
    for verdict in (ERROR, NOT_YET, ERROR, ERROR):
        assert (await chaining.run(run_id)).state is FlowState.RUNNING
        taken = (await chaining.take())["g1"]
        await chaining.probed(taken, verdict, exit_code=7, message="exit code 7", output="no such table")
        chaining.pass_time(PROBE_SECONDS)
    run = await chaining.run(run_id)
    assert (run.state, run.ended_at is not None) == (FlowState.ERROR, True)
    assert run.message == "gates, 'gate 1': FAILED: 3 error(s), 2 borne; the last: exit code 7"
    *_, last = await chaining.probes(run_id)
    (message,) = await chaining.messages()
    assert (message.kind, message.severity) == (MessageKind.GATE_FAILED, "error")
    assert (message.chain_id, message.flow_run_id, message.run_id) == (chain.id, run_id, last.run_id)
    assert (message.tag, message.subtag, message.node) == ("important", "night", "node")
    assert message.body == f"{run.message}\nno such table"


async def test_a_lost_workers_probe_is_no_error_and_is_tried_again(chaining: Chaining) -> None:
    run_id = await chaining.start_chain(await chaining.chain(1, gates=1, dep_err_tolerance=0, dep_ot=60))
    await chaining.take()
    chaining.pass_time(120)
    await chaining.rescue()
    assert (await chaining.run(run_id)).state is FlowState.RUNNING
    chaining.pass_time(PROBE_SECONDS)
    assert await chaining.finish_all() == [["g1"], ["s1"]]
    lost, tried = await chaining.probes(run_id)
    assert (lost.verdict, lost.state, tried.verdict) == (None, RunState.FAILED, PASSED)
    assert await chaining.messages() == []


async def test_the_levels_wait_for_all_gates_and_a_gate_that_has_passed_rests(chaining: Chaining) -> None:
    run_id = await chaining.start_chain(await chaining.chain(1, 2, gates=2))
    assert await chaining.finish(g2=NOT_YET) == ["g1", "g2"]
    assert (await chaining.run(run_id)).gates_passed_at is None
    chaining.pass_time(PROBE_SECONDS)
    assert await chaining.finish_all() == [["g2"], ["s1"], ["s2"]]
    run = await chaining.run(run_id)
    (_, passed) = await chaining.probes(run_id, "g2")
    assert (run.state, run.gates_passed_at) == (FlowState.COMPLETED, passed.ended_at)


async def test_gates_that_end_in_one_write_let_the_first_level_begin_once(chaining: Chaining) -> None:
    run_id = await chaining.start_chain(await chaining.chain(1, gates=3))
    gates = (await chaining.take()).values()
    await chaining.end(*gates, verdict=PASSED)
    assert (await chaining.run(run_id)).gates_passed_at is not None
    assert await chaining.finish_all() == [["s1"]]


async def test_a_chain_without_gates_has_passed_them_at_its_start(chaining: Chaining) -> None:
    run_id = await chaining.start_chain(await chaining.chain(1))
    run = await chaining.run(run_id)
    assert run.gates_passed_at == run.created_at
    (attempt,) = (await chaining.take()).values()
    assert attempt.probe_until is None


async def test_a_gate_that_fails_gives_up_what_nobody_has_claimed_of_the_others(chaining: Chaining) -> None:
    run_id = await chaining.start_chain(await chaining.chain(1, gates=3, dep_err_tolerance=0))
    taken = await chaining.take()
    await chaining.probed(taken["g2"], NOT_YET)  # its next probe is planned
    await chaining.probed(taken["g1"], ERROR, message="exit code 1")
    assert await chaining.nodes(run_id) == {"g1": "FAILED", "g2": "STOPPED", "g3": "RUNNING"}
    *_, given_up = await chaining.probes(run_id, "g2")
    assert (given_up.state, given_up.message) == (RunState.STOPPED, GIVEN_UP)
    assert (await chaining.run(run_id)).state is FlowState.RUNNING
    await chaining.probed(taken["g3"], NOT_YET)  # claimed then: not probed again
    assert await chaining.nodes(run_id) == {"g1": "FAILED", "g2": "STOPPED", "g3": "STOPPED"}
    chaining.pass_time(3_600)
    assert await chaining.take() == {}
    run = await chaining.run(run_id)
    assert (run.state, run.message) == (
        FlowState.ERROR,
        "gates, 'gate 1': FAILED: 1 error(s), 0 borne; the last: exit code 1",
    )
    assert len(await chaining.messages()) == 1


async def test_a_gate_that_fails_beside_one_that_is_asked_again_in_one_write_gives_it_up(chaining: Chaining) -> None:
    run_id = await chaining.start_chain(await chaining.chain(1, gates=2, dep_err_tolerance=0))
    taken = await chaining.take()
    outcomes = [
        Outcome(attempt_id=each.id, fence=each.fence, state=RunState.SUCCEEDED, verdict=verdict)
        for each, verdict in ((taken["g2"], NOT_YET), (taken["g1"], ERROR))
    ]
    await chaining.database.write(ending.end_attempts, outcomes)
    assert await chaining.nodes(run_id) == {"g1": "FAILED", "g2": "STOPPED"}
    assert (await chaining.run(run_id)).state is FlowState.ERROR
    assert len(await chaining.messages()) == 1


async def test_two_gates_that_fail_are_two_messages_and_the_run_says_the_first(chaining: Chaining) -> None:
    run_id = await chaining.start_chain(await chaining.chain(1, gates=2, dep_err_tolerance=0))
    taken = await chaining.take()
    await chaining.probed(taken["g1"], ERROR, message="one")
    await chaining.probed(taken["g2"], ERROR, message="two")
    run = await chaining.run(run_id)
    assert run.message
    assert run.message.endswith("the last: one")
    assert [message.body.split(": ")[-1] for message in await chaining.messages()] == ["one", "two"]


async def test_ending_a_probe_twice_plans_one_and_tells_once(chaining: Chaining) -> None:
    """Its worker never heard that it was stored."""
    run_id = await chaining.start_chain(await chaining.chain(1, gates=1, dep_err_tolerance=1))
    for number in (0, 1):
        probe = (await chaining.take())["g1"]
        assert await chaining.probed(probe, ERROR) == {probe.id}
        assert await chaining.probed(probe, ERROR) == frozenset()
        assert [each.number for each in await chaining.probes(run_id)] == [0, 1]
        chaining.pass_time(PROBE_SECONDS)
        assert len(await chaining.messages()) == number


async def test_stopping_between_two_probes_ends_the_run_at_once_without_a_message(chaining: Chaining) -> None:
    run_id = await chaining.start_chain(await chaining.chain(1, gates=2))
    taken = await chaining.take()
    await chaining.end(*taken.values(), verdict=NOT_YET)
    await chaining.stop_run(run_id)
    assert (await chaining.run(run_id)).state is FlowState.STOPPED
    assert await chaining.nodes(run_id) == {"g1": "STOPPED", "g2": "STOPPED"}
    chaining.pass_time(3_600)
    assert await chaining.take() == {}
    assert await chaining.messages() == []


@pytest.mark.parametrize("verdict", [PASSED, NOT_YET, ERROR])
async def test_a_probe_that_ends_by_itself_while_it_is_stopped_moves_nothing(chaining: Chaining, verdict: str) -> None:
    run_id = await chaining.start_chain(await chaining.chain(1, gates=1, dep_err_tolerance=0))
    probe = (await chaining.take())["g1"]
    await chaining.stop_run(run_id)
    assert (await chaining.run(run_id)).state is FlowState.STOPPING
    await chaining.end(probe, verdict=verdict)
    run = await chaining.run(run_id)
    assert (run.state, run.message, run.gates_passed_at) == (FlowState.STOPPED, None, None)
    chaining.pass_time(3_600)
    assert await chaining.take() == {}
    assert await chaining.messages() == []


async def test_the_usual_time_is_learned_from_runs_that_passed(chaining: Chaining) -> None:
    chain = await chaining.chain(1, gates=1)
    run_id = 0
    for _ in range(3):
        run_id = await chaining.start_chain(chain)
        assert await chaining.finish_all() == [["g1"], ["s1"]]
        chaining.pass_time(60)
        await chaining.lives()
    failed = await chaining.start_chain(chain)
    await chaining.finish(g1=NOT_YET)
    await chaining.stop_run(failed)
    spans = (await chaining.whole(run_id)).spans
    assert {node[:4]: len(found) for node, found in spans.items()} == {"gate": 3, "step": 3}
    first, *_, last = (ended for _, ended in sorted(spans[f"gate-{chain.spec.gates[0].id}"]))
    assert last - first >= 2 * MINUTE - SECOND
