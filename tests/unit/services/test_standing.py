"""How nodes stand, and what an operator is warned of."""

from dataclasses import replace
from typing import Any

from waterclock.domain.moment import SECOND
from waterclock.services.standing import Standing, by_duty, seen_nodes, warnings
from waterclock.stores.ops.gauges import QueueLoad
from waterclock.stores.ops.nodes import Node

NOW = 1_000 * SECOND
ALIVE_WITHIN = 30.0
BOTH = Node(
    id="a", host="h", name="one", duties=("scheduler", "worker"), version="1", pid=1, heartbeat_at=NOW, started_at=1
)


def standings(*nodes: Node) -> dict[str, Standing]:
    return {each.node.id: each.standing for each in seen_nodes(nodes, NOW, ALIVE_WITHIN)}


def warned(*nodes: Node, queues: tuple[QueueLoad, ...] = ()) -> list[str]:
    return warnings(seen_nodes(nodes, NOW, ALIVE_WITHIN), queues)


def node(**changes: Any) -> Node:
    return replace(BOTH, **changes)


def test_a_node_lives_drains_is_drained_or_lost() -> None:
    old = NOW - 31 * SECOND
    assert standings(
        BOTH,
        node(id="b", host="b", draining_at=1),
        node(id="c", host="c", draining_at=1, drained_at=2),
        node(id="d", host="d", draining_at=1, drained_at=2, heartbeat_at=old),
    ) == {"a": Standing.LIVE, "b": Standing.DRAINING, "c": Standing.DRAINED, "d": Standing.LOST}


def test_a_lost_node_that_was_started_again_is_not_shown() -> None:
    old = NOW - 31 * SECOND
    assert standings(node(id="old", heartbeat_at=old), node(id="new", started_at=2)) == {"new": Standing.LIVE}
    assert standings(node(id="old", heartbeat_at=old), node(id="api", duties=("api",), started_at=2)) == {
        "old": Standing.LOST,
        "api": Standing.LIVE,
    }


def test_a_node_counts_for_each_of_its_duties() -> None:
    seen = seen_nodes([BOTH, node(id="b", host="b", duties=("library:etl/x",), draining_at=1)], NOW, ALIVE_WITHIN)
    nobody = {"live": 0, "draining": 0, "drained": 0, "lost": 0}
    assert by_duty(seen) == {
        "library": nobody | {"draining": 1},
        "scheduler": nobody | {"live": 1},
        "worker": nobody | {"live": 1},
    }


def test_a_healthy_cluster_warns_of_nothing() -> None:
    assert warned(BOTH, node(id="b", skew_us=SECOND, late_us=SECOND)) == []


def test_where_nobody_takes_work_it_says_what_follows_and_what_to_do() -> None:
    assert warned() == [
        "no scheduler lives: nothing fires (waterclock scheduler)",
        "no worker lives: nothing starts (waterclock worker)",
    ]
    assert warned(node(draining_at=1)) == [
        "every scheduler drains: nothing fires (waterclock node resume)",
        "every worker drains: nothing starts (waterclock node resume)",
    ]


def test_skew_lateness_loss_and_two_versions_are_warned_of() -> None:
    said = warned(
        BOTH,
        node(id="b", name="ahead", skew_us=-3 * SECOND),
        node(id="c", name="busy", late_us=4 * SECOND),
        node(id="d", host="d", name="gone", heartbeat_at=NOW - 95 * SECOND),
        node(id="e", host="e", name="a program", duties=("library:x",), heartbeat_at=NOW - 95 * SECOND),
        node(id="f", version="2"),
    )
    begins = [
        "gone (scheduler, worker, d) is lost",
        "ahead (scheduler, worker, b): its clock is -3.0 s",
        "busy",
        "vers",
    ]
    assert len(said) == len(begins)
    assert all(each.startswith(begin) for each, begin in zip(said, begins, strict=True)), said
    assert "95 s ago" in said[0]
    assert "versions 1, 2 run side by side" in said[-1]


def test_a_queue_that_nobody_serves_is_named_where_all_workers_say_what_they_serve() -> None:
    queues = (QueueLoad(queue="gpu", starting=2), QueueLoad(queue="default", starting=1), QueueLoad(queue="idle"))
    said = warned(node(queues=("default",)), queues=queues)
    assert said == ["2 run(s) wait in the queue 'gpu', which no worker serves (worker.queues)"]
    assert warned(node(queues=("default",)), node(id="older", host="x"), queues=queues) == []
    assert warned(node(queues=("default", "gpu")), queues=queues) == []
