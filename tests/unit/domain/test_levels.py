"""The order in which the stages of a flow are shown."""

from tests.unit.domain.test_flow import DIAMOND, OK, stage
from waterclock.domain.flow import Graph, Stage
from waterclock.domain.levels import levels


def names(graph: Graph) -> list[list[str]]:
    return [[each.name for each in level] for level in levels(graph)]


def graph(*stages: Stage) -> Graph:
    return Graph(stages=stages)


def test_a_stage_stands_below_all_that_it_waits_for() -> None:
    assert names(DIAMOND) == [["start"], ["split"], ["join", "alarm"]]
    shortcut = graph(
        stage("start", "a"), stage("late", "c", needs={"a": OK, "b": OK}), stage("then", "b", needs={"a": OK})
    )
    assert names(shortcut) == [["start"], ["then"], ["late"]]


def test_a_stage_that_waits_for_itself_or_for_nobody_has_its_place() -> None:
    assert names(graph(stage("again", "a", needs={"a": OK}))) == [["again"]]
    assert names(Graph()) == []


def test_a_circle_comes_last_and_whole() -> None:
    circle = (stage("one", "b", needs={"c": OK}), stage("two", "c", needs={"b": OK}))
    assert names(graph(*circle, stage("start", "a"))) == [["start"], ["one", "two"]]
