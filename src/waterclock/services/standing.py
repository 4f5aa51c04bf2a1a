"""How the nodes stand: who takes work, who drains, who is lost, and what an operator should look at."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from waterclock.domain.moment import SECOND, Moment
from waterclock.stores.ops.gauges import QueueLoad
from waterclock.stores.ops.nodes import TOLERATED_SKEW_US, Node

TOLERATED_LATENESS_US: Final = 2 * SECOND
LOST_FOR_SECONDS: Final = 3_600.0  # as long a node that is gone without a word is shown
LIBRARY: Final = "library"  # the duties of programs that use the library begin with it


class Standing(StrEnum):
    LIVE = "live"
    DRAINING = "draining"  # takes nothing more; something runs there
    DRAINED = "drained"
    LOST = "lost"  # not stopped, and its last heartbeat is too old


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenNode:
    node: Node
    standing: Standing
    silent_seconds: float

    @property
    def is_skewed(self) -> bool:
        return abs(self.node.skew_us) > TOLERATED_SKEW_US

    @property
    def duties(self) -> frozenset[str]:
        """In a few words, whatever programs call their executors."""
        return frozenset(duty.partition(":")[0] for duty in self.node.duties)

    @property
    def shown(self) -> str:
        return f"{self.node.name} ({', '.join(sorted(self.node.duties))}, {self.node.id})"


def seen_nodes(nodes: Iterable[Node], now: Moment, alive_within_seconds: float) -> list[SeenNode]:
    """Without those that are lost and have been started again since."""
    found = list(nodes)
    newest = {_place(node): node for node in sorted(found, key=lambda node: node.started_at)}
    seen = [_seen(node, now, alive_within_seconds) for node in found]
    return [each for each in seen if each.standing is not Standing.LOST or newest[_place(each.node)] is each.node]


def by_duty(seen: Iterable[SeenNode]) -> Mapping[str, Mapping[str, int]]:
    """How many of each duty stand how; a node with two duties counts for both."""
    counted = Counter((duty, each.standing) for each in seen for duty in each.duties)
    duties = sorted({duty for duty, _ in counted})
    return {duty: {str(standing): counted[duty, standing] for standing in Standing} for duty in duties}


def warnings(seen: Sequence[SeenNode], queues: Sequence[QueueLoad]) -> list[str]:
    """What is not as it should be, each with what to do about it."""
    return [
        *_nobody(seen),
        *_unserved(seen, queues),
        *(_lost(each) for each in seen if each.standing is Standing.LOST and LIBRARY not in each.duties),
        *(_skewed(each) for each in seen if each.standing is not Standing.LOST and each.is_skewed),
        *(_late(each) for each in seen if each.node.late_us > TOLERATED_LATENESS_US),
        *_versions(seen),
    ]


def _seen(node: Node, now: Moment, alive_within_seconds: float) -> SeenNode:
    silent = max(0.0, (now - node.heartbeat_at) / SECOND)
    if silent >= alive_within_seconds:
        standing = Standing.LOST
    elif node.draining_at is None:
        standing = Standing.LIVE
    else:
        standing = Standing.DRAINING if node.drained_at is None else Standing.DRAINED
    return SeenNode(node=node, standing=standing, silent_seconds=silent)


def _place(node: Node) -> tuple[str, tuple[str, ...]]:
    """Where a node that is started again comes back."""
    return node.host, node.duties


def _nobody(seen: Sequence[SeenNode]) -> Iterable[str]:
    taking = {duty for each in seen if each.standing is Standing.LIVE for duty in each.duties}
    for duty, effect in (("scheduler", "nothing fires"), ("worker", "nothing starts")):
        if duty not in taking:
            drains = any(duty in each.duties and each.node.draining_at for each in seen)
            cause = f"every {duty} drains" if drains else f"no {duty} lives"
            way_out = "waterclock node resume" if drains else f"waterclock {duty}"
            yield f"{cause}: {effect} ({way_out})"


def _unserved(seen: Sequence[SeenNode], queues: Sequence[QueueLoad]) -> Iterable[str]:
    """Where a worker lives that does not say which queues it serves (of an older version), nobody knows."""
    workers = [each.node for each in seen if "worker" in each.duties and each.standing is Standing.LIVE]
    if not workers or not all(node.queues for node in workers):
        return
    served = {queue for node in workers for queue in node.queues}
    for load in queues:
        if load.starting and load.queue not in served and "/" not in load.queue:
            yield f"{load.starting} run(s) wait in the queue {load.queue!r}, which no worker serves (worker.queues)"


def _lost(seen: SeenNode) -> str:
    return (
        f"{seen.shown} is lost: its last heartbeat was {seen.silent_seconds:.0f} s ago; "
        "what it ran is decided when its lease is over"
    )


def _skewed(seen: SeenNode) -> str:
    return (
        f"{seen.shown}: its clock is {seen.node.skew_us / SECOND:+.1f} s from the store's; synchronise it "
        "(due times follow the store's clock)"
    )


def _late(seen: SeenNode) -> str:
    return f"{seen.shown} fires late: 1 in 100 of the last minute by {seen.node.late_us / SECOND:.1f} s or more"


def _versions(seen: Sequence[SeenNode]) -> Iterable[str]:
    versions = sorted({each.node.version for each in seen if each.standing is not Standing.LOST})
    if len(versions) > 1:
        yield f"versions {', '.join(versions)} run side by side: finish the upgrade"
