"""Numbers about this process and its cluster, in Prometheus's text form. No names of jobs or people, so few series."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from waterclock.domain.moment import SECOND
from waterclock.domain.run import LIVE
from waterclock.faces.http.siblings import Requests, Siblings
from waterclock.services.cluster import Status
from waterclock.services.standing import LIBRARY, SeenNode, Standing, by_duty
from waterclock.stores.ops.gauges import QueueLoad, together

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
ESCAPES: Final = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})
MOST_NODES: Final = 100  # that have series of their own
DUTIES: Final = ("api", "scheduler", "worker")

Sample = tuple[Mapping[str, str], float]
ONE: Final[Mapping[str, str]] = {}  # a series without labels


@dataclass(slots=True)
class Metrics:
    """What the processes on this socket have counted; the others' numbers are up to a second old."""

    siblings: Siblings = field(default_factory=Siblings)
    requests: Requests = field(init=False)  # of this process, and of those that had its place before

    def __post_init__(self) -> None:
        self.requests = self.siblings.told_before()

    def tell(self) -> None:
        """The others."""
        self.siblings.tell(self.requests)

    def text(self, status: Status | None) -> str:
        """`status`: the cluster's; None where the store does not answer."""
        self.tell()  # who has read a number here never reads a smaller one elsewhere
        lines = [*_gauge("waterclock_store_up", "Whether the store answers.", [(ONE, float(status is not None))])]
        if status is not None:
            lines += [*_of_store(status), *_of_nodes(status), *_of_queues(status)]
        return "\n".join((*lines, *self._requests(), ""))

    def _requests(self) -> Iterator[str]:
        counted = sorted((self.requests + self.siblings.told_by_others()).items())
        samples = [
            ({"face": face, "action": action, "status": str(status)}, float(count))
            for (face, action, status), count in counted
        ]
        return _series("waterclock_http_requests_total", "counter", "Requests answered by this server.", samples)


def _of_store(status: Status) -> Iterator[str]:
    latency = [(ONE, status.latency_seconds)]
    yield from _gauge(
        "waterclock_store_latency_seconds", "The store's shortest answer, as this scrape saw it.", latency
    )
    live = [({"state": str(state)}, float(status.runs.get(state, 0))) for state in sorted(LIVE)]
    yield from _gauge("waterclock_runs_live", "Runs that have not ended, by state.", live)
    yield from _gauge("waterclock_leases_held", "Attempts that a worker holds.", [(ONE, float(status.leases.held))])
    overdue = [(ONE, float(status.leases.overdue))]
    yield from _gauge("waterclock_leases_overdue", "Attempts whose lease is over and that nobody has decided.", overdue)


def _of_nodes(status: Status) -> Iterator[str]:
    counted = by_duty(status.nodes)
    nodes = [
        ({"duty": duty, "standing": str(standing)}, float(counted.get(duty, {}).get(standing, 0)))
        for duty in (*DUTIES, *(duty for duty in counted if duty not in DUTIES))
        for standing in Standing
    ]
    yield from _gauge("waterclock_nodes", "Nodes by duty and standing.", nodes)
    present = [each for each in status.nodes if each.standing is not Standing.LOST and LIBRARY not in each.duties]
    skews = _by_name((each, each.node.skew_us / SECOND) for each in present)
    yield from _gauge("waterclock_node_skew_seconds", "How far a node's clock is from the store's.", skews)
    lateness = _by_name((each, each.node.late_us / SECOND) for each in present if "scheduler" in each.duties)
    yield from _gauge(
        "waterclock_fire_lateness_seconds", "How late 99 in 100 fires of a scheduler's last minute were.", lateness
    )
    running = _by_name((each, float(each.node.running)) for each in present if "worker" in each.duties)
    yield from _gauge("waterclock_node_running", "Attempts that a worker holds, by its own count.", running)


def _of_queues(status: Status) -> Iterator[str]:
    loads = _without_programs(status.queues)
    counts = [
        ({"queue": load.queue, "state": state}, float(count))
        for load in loads
        for state, count in (("waiting", load.waiting), ("starting", load.starting), ("running", load.running))
    ]
    yield from _gauge("waterclock_queue_attempts", "Live attempts by queue and state.", counts)
    ages = [({"queue": load.queue}, load.oldest_us(status.now) / SECOND) for load in loads]
    yield from _gauge("waterclock_queue_oldest_seconds", "How long the oldest that nobody has taken is due.", ages)


def _without_programs(loads: Iterable[QueueLoad]) -> list[QueueLoad]:
    """The queues of programs that use the library bear their names: all of them are one here."""
    found = list(loads)
    programs = [load for load in found if "/" in load.queue]
    return [load for load in found if "/" not in load.queue] + ([together(LIBRARY, programs)] if programs else [])


def _by_name(values: Iterable[tuple[SeenNode, float]]) -> list[Sample]:
    """One a host and duties: after a restart the series goes on. Of several there, the worst."""
    worst: dict[tuple[str, str], float] = {}
    for each, value in values:
        key = each.node.name, ",".join(sorted(each.duties))
        worst[key] = max(worst.get(key, 0.0), value, key=abs)
    return [({"node": name, "duties": duties}, value) for (name, duties), value in sorted(worst.items())[:MOST_NODES]]


def _gauge(name: str, help_: str, samples: Iterable[Sample]) -> Iterator[str]:
    return _series(name, "gauge", help_, samples)


def _series(name: str, kind: str, help_: str, samples: Iterable[Sample]) -> Iterator[str]:
    yield f"# HELP {name} {help_}"
    yield f"# TYPE {name} {kind}"
    for labels, value in samples:
        yield f"{name}{_labels(labels)} {value:g}" if value != int(value) else f"{name}{_labels(labels)} {int(value)}"


def _labels(labels: Mapping[str, str]) -> str:
    if not labels:
        return ""
    return "{" + ",".join(f'{name}="{value.translate(ESCAPES)}"' for name, value in labels.items()) + "}"
