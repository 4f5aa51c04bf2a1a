"""What must hold after every single step: read from the store, held against the processes that really live."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Final

from tests.chaos.simulation.cluster import Cluster
from tests.chaos.simulation.jobs import JOBS
from waterclock.domain.job import NO_CAP
from waterclock.domain.run import ACTIVE, ENDED, LIVE

ATTEMPTS: Final = """
SELECT a.id, a.run_id, a.number, a.wire_id, a.state, a.message, a.fence, r.state AS run_state, r.job_name,
  r.trigger_name, r.run_at, r.arguments
FROM attempts a JOIN runs r ON r.id = a.run_id ORDER BY a.id"""

Row = Mapping[str, Any]


class Invariants:
    """Remembers how attempts have ended: an end is for ever."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._ended: dict[int, str] = {}

    def broken(self) -> list[str]:
        cluster = self._cluster
        attempts = cluster.loop.run_until_complete(cluster.store.peek(ATTEMPTS))
        return [
            *cluster.bugs,
            *self._changed_ends(attempts),
            *_dead_in_name_only(cluster, attempts),
            *_several_live_attempts(attempts),
            *_over_cap(cluster, attempts),
        ]

    def _changed_ends(self, attempts: Iterable[Row]) -> Iterable[str]:
        for row in attempts:
            before = self._ended.get(row["id"])
            if before is not None and before != row["state"]:
                yield f"{row['wire_id']} had ended as {before}, and is {row['state']}"
            if row["state"] in ENDED:
                self._ended[row["id"]] = row["state"]


def _dead_in_name_only(cluster: Cluster, attempts: Iterable[Row]) -> Iterable[str]:
    """Whatever the store says has ended, STOPPED above all, has no process."""
    ended = {row["id"]: row for row in attempts if row["state"] in ENDED}
    for life in cluster.world.living():
        if row := ended.get(life.program.attempt_id):
            yield f"{life} lives, and is {row['state']} ({row['message']})"


def _several_live_attempts(attempts: Iterable[Row]) -> Iterable[str]:
    live = Counter(row["run_id"] for row in attempts if row["state"] in LIVE)
    yield from (f"run {run} has {count} live attempts" for run, count in live.items() if count > 1)


def _over_cap(cluster: Cluster, attempts: Iterable[Row]) -> Iterable[str]:
    running = Counter(life.job for life in cluster.world.living())
    active = Counter(
        job for job, _ in {(row["job_name"], row["run_id"]) for row in attempts if row["run_state"] in ACTIVE}
    )
    for name, job in JOBS.items():
        for count in (running[name], active[name]):
            if job.cap != NO_CAP and count > job.cap:
                yield f"{count} of {name} run, and its cap is {job.cap}"
