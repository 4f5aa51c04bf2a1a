"""The numbers for monitors: of store, nodes and queues, in few series, without names of jobs or people."""

import re
from dataclasses import replace

from waterclock.domain.moment import SECOND
from waterclock.faces.http.metrics import MOST_NODES, Metrics
from waterclock.services.cluster import Status
from waterclock.services.standing import seen_nodes
from waterclock.stores.ops.gauges import Leases, QueueLoad
from waterclock.stores.ops.nodes import Node

NOW = 1_000 * SECOND
BOTH = Node(
    id="a",
    host="h",
    name="one",
    duties=("scheduler", "worker"),
    version="1",
    pid=1,
    heartbeat_at=NOW,
    skew_us=SECOND // 2,
    late_us=SECOND // 4,
    running=3,
)
LINE = re.compile(r'waterclock_\w+(\{(\w+="(\\.|[^"\\])*",?)+\})? -?[0-9.e+-]+')


def text(*nodes: Node, queues: tuple[QueueLoad, ...] = ()) -> list[str]:
    status = Status(
        now=NOW,
        nodes=seen_nodes(nodes, NOW, 30),
        runs={"RUNNING": 3},
        queues=queues,
        leases=Leases(held=3, overdue=1),
        latency_seconds=0.0025,
    )
    lines = Metrics().text(status).splitlines()
    assert all(line.startswith("# ") or LINE.fullmatch(line) for line in lines), lines
    samples = [line.rpartition(" ")[0] for line in lines if not line.startswith("#")]
    assert len(samples) == len(set(samples)), "a series is told once"
    return lines


def test_store_nodes_and_queues_have_their_numbers() -> None:
    queues = (
        QueueLoad(queue="default", waiting=1, starting=2, running=3, oldest_due_at=NOW - 7 * SECOND),
        QueueLoad(queue="etl of ann/pool", running=4),
        QueueLoad(queue="etl of bob/pool", running=5),
    )
    lines = text(BOTH, replace(BOTH, id="b", host="b", name="two", draining_at=1), queues=queues)
    assert set(lines) >= {
        "waterclock_store_up 1",
        "waterclock_store_latency_seconds 0.0025",
        'waterclock_runs_live{state="RUNNING"} 3',
        'waterclock_runs_live{state="WAITING"} 0',
        "waterclock_leases_held 3",
        "waterclock_leases_overdue 1",
        'waterclock_nodes{duty="worker",standing="live"} 1',
        'waterclock_nodes{duty="worker",standing="draining"} 1',
        'waterclock_nodes{duty="api",standing="live"} 0',
        'waterclock_node_skew_seconds{node="one",duties="scheduler,worker"} 0.5',
        'waterclock_fire_lateness_seconds{node="one",duties="scheduler,worker"} 0.25',
        'waterclock_node_running{node="two",duties="scheduler,worker"} 3',
        'waterclock_queue_attempts{queue="default",state="starting"} 2',
        'waterclock_queue_attempts{queue="library",state="running"} 9',
        'waterclock_queue_oldest_seconds{queue="default"} 7',
    }
    assert not any("ann" in line or "bob" in line for line in lines)


def test_restarts_and_many_nodes_make_no_more_series() -> None:
    twice = [BOTH, replace(BOTH, id="b", host="b", skew_us=-2 * SECOND)]  # of one name: the worst is told
    assert 'waterclock_node_skew_seconds{node="one",duties="scheduler,worker"} -2' in text(*twice)
    many = [replace(BOTH, id=str(number), host=str(number), name=f"n{number}") for number in range(3 * MOST_NODES)]
    assert sum(line.startswith("waterclock_node_skew_seconds{") for line in text(*many)) == MOST_NODES


def test_a_name_cannot_break_out_of_its_label() -> None:
    assert 'waterclock_queue_oldest_seconds{queue="a\\"\\\\\\nb"} 0' in text(queues=(QueueLoad(queue='a"\\\nb'),))


def test_without_its_store_a_process_still_tells_what_it_counted() -> None:
    metrics = Metrics()
    metrics.requests["api", "GET /api/v1/status", 503] += 1
    lines = metrics.text(None).splitlines()
    assert "waterclock_store_up 0" in lines
    assert lines[-1].endswith(" 1")
    assert not any("nodes" in line for line in lines)
