"""What fires in a flow, when it is over, and how an old run is taken up: without a store."""

from dataclasses import replace
from typing import Any

import pytest

from waterclock.domain.flow import Graph, Need, Node, Stage, downstream, graph_of, ready, resume
from waterclock.domain.run import RunState
from waterclock.domain.trigger import (
    Action,
    Condition,
    FireRules,
    Logical,
    Predicate,
    Target,
    Trigger,
    TriggerSpec,
    TriggerState,
    TriggerType,
)
from waterclock.domain.watching import JobEnd, watch

OK, BAD, SKIPPED = RunState.SUCCEEDED, RunState.FAILED, RunState.SKIPPED


def node(name: str) -> Node:
    return Node(id=name, action=Action(target=Target.JOB, name=name))


def stage(name: str, *nodes: str, needs: dict[str, RunState] | None = None, **more: Any) -> Stage:
    wanted = tuple(Need(nodes=(each,), states=(state,)) for each, state in (needs or {}).items())
    return Stage(id=name, name=name, nodes=tuple(map(node, nodes)), needs=wanted, **more)


DIAMOND = Graph(
    stages=(
        stage("start", "a"),
        stage("split", "b", "c", needs={"a": OK}),
        stage("join", "d", needs={"b": OK, "c": OK}),
        stage("alarm", "e", needs={"b": BAD, "c": BAD}, logical=Logical.ANY),
    )
)


def names(stages: list[Stage]) -> list[str]:
    return [each.id for each in stages]


def test_a_stage_that_needs_nothing_fires_at_the_start() -> None:
    assert names(ready(DIAMOND, {}, ())) == ["start"]


def test_a_stage_fires_once() -> None:
    assert ready(DIAMOND, {}, {"start"}) == []
    assert ready(DIAMOND, {"a": OK}, {"start", "split"}) == []


def test_and_waits_for_all_and_any_for_one() -> None:
    fired = {"start", "split"}
    assert names(ready(DIAMOND, {"a": OK, "b": OK}, fired)) == []
    assert names(ready(DIAMOND, {"a": OK, "b": OK, "c": OK}, fired)) == ["join"]
    assert names(ready(DIAMOND, {"a": OK, "b": BAD}, fired)) == ["alarm"]


@pytest.mark.parametrize("outcome", [BAD, SKIPPED, RunState.ERROR, RunState.STOPPED, RunState.TIMEOUT])
def test_an_outcome_that_nobody_asked_for_fires_nothing(outcome: RunState) -> None:
    assert ready(DIAMOND, {"a": outcome}, {"start"}) == []


def test_a_stage_that_is_not_active_never_fires() -> None:
    graph = Graph(stages=(stage("start", "a", active=False),))
    assert ready(graph, {}, ()) == []


def test_a_need_on_a_job_that_is_not_in_the_flow_is_never_met() -> None:
    graph = Graph(
        stages=(stage("start", "a"), Stage(id="s", name="s", nodes=(), needs=(Need(nodes=(), states=(OK,)),)))
    )
    assert ready(graph, {"a": OK}, {"start"}) == []


def test_downstream_is_all_that_may_follow() -> None:
    assert downstream(DIAMOND, {"a"}) == {"b", "c", "d", "e"}
    assert downstream(DIAMOND, {"b"}) == {"d", "e"}
    assert downstream(DIAMOND, {"d"}) == set()


def test_a_circle_ends() -> None:
    graph = Graph(stages=(stage("one", "a", needs={"b": OK}), stage("two", "b", needs={"a": OK})))
    assert downstream(graph, {"a"}) == {"a", "b"}


def test_resuming_keeps_what_is_beside_and_above_and_runs_the_chosen_again() -> None:
    outcomes = {"a": OK, "b": OK, "c": BAD, "e": OK}
    taken_up = resume(DIAMOND, outcomes, {"start", "split", "alarm"}, {"c"})
    assert taken_up.carried == {"a": OK, "b": OK}
    assert taken_up.fired == {"start", "split"}
    assert taken_up.starts == {"split": ("c",)}
    assert names(ready(DIAMOND, {**taken_up.carried, "c": OK}, taken_up.fired)) == ["join"]


def test_a_chosen_node_below_another_chosen_one_waits_for_it() -> None:
    outcomes = {"a": BAD, "b": BAD, "c": OK, "e": OK}
    taken_up = resume(DIAMOND, outcomes, {"start", "split", "alarm"}, {"a", "b"})
    assert taken_up.starts == {"start": ("a",)}
    assert taken_up.carried == {}
    assert taken_up.fired == {"start"}


def trigger(name: str, *actions: str, conditions: tuple[Condition, ...] = (), **more: Any) -> Trigger:
    spec = TriggerSpec(
        type=TriggerType.CONDITIONAL if conditions else TriggerType.ON_DEMAND,
        actions=tuple(Action(target=Target.JOB, name=each) for each in actions),
        predicate=Predicate(logical=Logical.AND, conditions=conditions) if conditions else None,
        flow_name="flow",
    )
    values: dict[str, Any] = {
        "id": 1,
        "org_id": 1,
        "namespace": "glue",
        "owner": "ann",
        "state": TriggerState.RUNNING if conditions else TriggerState.STANDBY,
        "version": 1,
        "generation": 1,
        "next_fire_at": None,
        "definition": {},
        "tags": {},
        "created_at": 0,
        "updated_at": 0,
        **more,
    }
    return Trigger(name=name, spec=spec, **values)


def on(name: str, state: str = "SUCCEEDED") -> Condition:
    return Condition(target=Target.JOB, name=name, state=state)


def test_a_workflows_triggers_become_a_graph_that_begins_with_its_start_trigger() -> None:
    graph = graph_of("flow", [trigger("a-later", "two", conditions=(on("one"),)), trigger("start", "one")], FireRules())
    assert [each.name for each in graph.stages] == ["start", "a-later"]
    assert graph.stages[1].needs[0].nodes == (graph.stages[0].nodes[0].id,)
    assert names(ready(graph, {}, ())) == [graph.stages[0].id]


def test_ids_are_the_same_in_every_run_and_different_for_every_place() -> None:
    triggers = [trigger("start", "one", "one"), trigger("then", "one", conditions=(on("one"),))]
    first, second = graph_of("flow", triggers, FireRules()), graph_of("flow", triggers, FireRules())
    assert first == second
    ids = [each.id for each in first.stages] + [each.id for each in first.nodes]
    assert len(set(ids)) == 5
    assert all(each.startswith("wnode_") for each in ids)


def test_a_condition_on_a_job_that_stands_in_several_places_is_met_by_any_of_them() -> None:
    graph = graph_of(
        "flow", [trigger("start", "one", "one"), trigger("then", "two", conditions=(on("one"),))], FireRules()
    )
    second = graph.stages[0].nodes[1].id
    assert [each.name for each in ready(graph, {second: OK}, {graph.stages[0].id})] == ["then"]


def test_a_conditional_trigger_that_was_not_started_is_in_the_graph_and_never_fires() -> None:
    idle = trigger("then", "two", conditions=(on("one"),), state=TriggerState.STANDBY)
    graph = graph_of("flow", [trigger("start", "one"), idle], FireRules())
    assert ready(graph, {graph.stages[0].nodes[0].id: OK}, {graph.stages[0].id}) == []


def test_a_conditional_trigger_that_says_nothing_of_what_it_waits_for_never_fires() -> None:
    """As those are that were stored before conditions were."""
    old = trigger("then", "two", conditions=(on("one"),))
    old = replace(old, spec=replace(old.spec, predicate=None))
    graph = graph_of("flow", [trigger("start", "one"), old], FireRules())
    assert names(ready(graph, {}, ())) == [graph.stages[0].id]


def end(name: str, state: RunState = OK) -> JobEnd:
    return JobEnd(job_name=name, state=state, wire_id="jr")


def test_any_fires_at_each_end_that_meets_it() -> None:
    either = Predicate(logical=Logical.ANY, conditions=(on("a"), on("b")))
    assert watch(either, (), end("a")).fires
    assert watch(either, (), end("b")).fires
    assert not watch(either, (), end("a", BAD)).fires
    assert not watch(either, (), end("c")).fires


def test_and_remembers_until_all_have_come_and_then_begins_anew() -> None:
    both = Predicate(logical=Logical.AND, conditions=(on("a"), on("b")))
    first = watch(both, (), end("a"))
    assert (first.met, first.fires) == (frozenset({0}), False)
    second = watch(both, first.met, end("b"))
    assert (second.met, second.fires) == (frozenset(), True)


def test_under_and_the_last_end_of_a_job_counts() -> None:
    both = Predicate(logical=Logical.AND, conditions=(on("a"), on("b")))
    met = watch(both, watch(both, (), end("a")).met, end("a", BAD)).met
    assert met == frozenset()
    assert not watch(both, met, end("b")).fires


def test_a_crawlers_condition_is_never_met() -> None:
    crawl = Predicate(logical=Logical.ANY, conditions=(Condition(target=Target.CRAWLER, name="a", state="SUCCEEDED"),))
    assert not watch(crawl, (), end("a")).fires
