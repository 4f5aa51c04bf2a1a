"""From a chain to its graph: gates first, then level by level, whatever order the steps were written in."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from waterclock.domain.chain import ChainSpec, Folder, Gate, Step
from waterclock.domain.chain_graph import COMMAND, ENV, FOLDER, GATES, compile_chain
from waterclock.domain.flow import FlowState, Graph, gates_are_passed, ready, state_at_end
from waterclock.domain.gate import Probing
from waterclock.domain.run import RunState

OK, BAD = RunState.SUCCEEDED, RunState.FAILED


def chain(*levels: int, gates: int = 0, parallel: bool = True, **more: float) -> Graph:
    """Steps of these levels, in this order, with the ids 1, 2, …"""
    steps = tuple(Step(id=n, command=f"s{n}.py", step_lvl=level, ottime=1) for n, level in enumerate(levels, start=1))
    made = tuple(Gate(id=n, command=f"g{n}.py", ottime=0.5) for n in range(1, gates + 1))
    spec = ChainSpec(timestr="@daily", steps=steps, gates=made, dep_ot=2 if gates else None, parallel=parallel)
    return compile_chain(7, spec, probe_seconds=more.get("probe_seconds", 60))


def shape(graph: Graph) -> dict[str, list[str]]:
    return {stage.name: [node.id for node in stage.nodes] for stage in graph.stages}


def run_through(graph: Graph, **outcomes: RunState) -> tuple[list[list[str]], FlowState]:
    """Every node ends well, unless it is told otherwise (with _ for -); what began together, and the end."""
    ended: dict[str, RunState] = {}
    fired: set[str] = set()
    rounds = []
    while stages := ready(graph, ended, fired):
        nodes = [node.id for stage in stages for node in stage.nodes]
        fired |= {stage.id for stage in stages}
        ended |= {node: outcomes.get(node.replace("-", "_"), OK) for node in nodes}
        rounds.append(nodes)
    return rounds, state_at_end(graph, ended, stopping=False)


def test_levels_run_in_ascending_order_however_they_were_written() -> None:
    assert shape(chain(20, 1, 20, 3)) == {
        "level 1": ["step-2"],
        "level 3": ["step-4"],
        "level 20": ["step-1", "step-3"],
    }


def test_gates_come_first_all_at_once_and_the_first_level_needs_them_all() -> None:
    graph = chain(0, 1, gates=2)
    assert shape(graph) == {GATES: ["gate-1", "gate-2"], "level 0": ["step-1"], "level 1": ["step-2"]}
    assert run_through(graph) == ([["gate-1", "gate-2"], ["step-1"], ["step-2"]], FlowState.COMPLETED)
    assert run_through(graph, gate_2=RunState.TIMEOUT) == ([["gate-1", "gate-2"]], FlowState.ERROR)


def test_one_after_another_is_a_stage_for_each_step() -> None:
    graph = chain(1, 1, 0, parallel=False)
    assert shape(graph) == {"level 0": ["step-3"], "level 1.1": ["step-1"], "level 1.2": ["step-2"]}
    assert run_through(graph, step_1=BAD)[0] == [["step-3"], ["step-1"]]


def test_a_failure_in_level_two_of_four_lets_nothing_follow() -> None:
    graph = chain(1, 2, 2, 3, 4)
    assert run_through(graph, step_3=BAD) == ([["step-1"], ["step-2", "step-3"]], FlowState.ERROR)


def test_a_chain_without_gates_has_passed_them() -> None:
    assert gates_are_passed(chain(1), {})
    assert not gates_are_passed(chain(1, gates=2), {"gate-1": OK})
    assert gates_are_passed(chain(1, gates=2), {"gate-1": OK, "gate-2": OK})


def test_what_was_stopped_is_stopped_whatever_its_nodes_were() -> None:
    assert state_at_end(chain(1), {"step-1": OK}, stopping=True) is FlowState.STOPPED


def test_a_node_knows_its_program_its_folder_and_its_time() -> None:
    gate, step = chain(1, gates=1).nodes
    assert gate.action.arguments == {ENV: "/usr/bin/python3", COMMAND: "g1.py", FOLDER: Folder.DEP}
    assert step.action.arguments[FOLDER] == Folder.JOB
    assert (gate.action.name, gate.action.timeout_seconds, step.action.timeout_seconds) == ("chain-7", 30, 60)
    assert (gate.probing, step.probing) == (Probing(every_seconds=60, for_seconds=120, tolerates=5), None)


def test_a_part_of_a_second_is_a_whole_one() -> None:
    step = Step(id=1, command="a.py", step_lvl=0, ottime=0.001)
    graph = compile_chain(1, ChainSpec(timestr="@daily", steps=(step,)), probe_seconds=1)
    assert graph.nodes[0].action.timeout_seconds == 1


def test_the_servers_pause_is_for_chains_that_name_none() -> None:
    gate, step = Gate(id=1, command="g.py", ottime=1), Step(id=1, command="a.py", step_lvl=0, ottime=1)
    own = ChainSpec(timestr="@daily", steps=(step,), gates=(gate,), dep_ot=1, probe_seconds=0.25)
    for spec, pause in ((own, 0.25), (ChainSpec(timestr="@daily", steps=(step,), gates=(gate,), dep_ot=1), 9)):
        probing = compile_chain(1, spec, probe_seconds=9).nodes[0].probing
        assert probing
        assert probing.every_seconds == pause


@given(
    levels=st.lists(st.integers(0, 5), min_size=1, max_size=12),
    gates=st.integers(0, 3),
    parallel=st.booleans(),
    failing=st.sets(st.integers(1, 12)),
)
def test_no_step_begins_before_all_of_a_lower_level_have_succeeded(
    levels: list[int], gates: int, parallel: bool, failing: set[int]
) -> None:
    graph = chain(*levels, gates=gates, parallel=parallel)
    bad = {f"step_{n}": BAD for n in failing if n <= len(levels)}
    rounds, end = run_through(graph, **bad)
    level = {f"step-{n}": step for n, step in enumerate(levels, start=1)} | {
        f"gate-{n}": -1 for n in range(1, gates + 1)
    }
    began = [node for each in rounds for node in each]
    assert len(set(began)) == len(began)
    for earlier, later in pairwise(rounds):
        assert max(level[node] for node in earlier) <= min(level[node] for node in later)
        assert not any(node.replace("-", "_") in bad for node in earlier)
    assert (end is FlowState.COMPLETED) == (not bad)
    if end is FlowState.COMPLETED:
        assert set(began) == set(level)
    if not parallel:
        assert all(len(each) == 1 for each in rounds[1 if gates else 0 :])
