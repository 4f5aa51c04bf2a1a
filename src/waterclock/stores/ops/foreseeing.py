"""What of a program is due next, read before its time and without a lock: fires are decided and their rows made ahead.

Nothing of it is sure. Whoever writes it holds the triggers first, and looks whether all is still as it was read.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from waterclock.domain.job import NO_CAP, Job
from waterclock.domain.moment import Moment
from waterclock.stores.base import Kind, Row, Tx
from waterclock.stores.ops.jobs import tallies
from waterclock.stores.ops.rows import job_to_start


@dataclass(frozen=True, slots=True)
class Foreseen:
    """A trigger, and the job of the same name."""

    row: Row
    job: Job | None  # None: somebody has deleted it alone
    live: int = 0  # runs of it, as the store had them

    @property
    def is_free(self) -> bool:
        """Whether one more run of it is sure to start at once.

        Its trigger alone starts it, and is of another version once it has: until then there are fewer, never more.
        """
        if self.job is None:
            return False
        spec = self.job.spec
        return not spec.queueing and (spec.max_concurrent == NO_CAP or self.live < spec.max_concurrent)


async def due_together(tx: Tx, *, ticker: str, due_at: Moment, limit: int) -> Sequence[Row]:
    """Triggers that fire at that instant: as many of them, whichever they are."""
    return await tx.fetch("triggers_due_at", {"ticker": ticker, "due_at": due_at, "limit": limit})


async def foresee(tx: Tx, *, due: Sequence[Row]) -> list[Foreseen]:
    """What these triggers are about to start."""
    jobs = await _namesakes(tx, due)
    found = [(row, jobs.get(row["name"])) for row in due]
    live = await tallies(tx, [job for row, job in found if job and row["version"] != 1])
    return [Foreseen(row, job, live[job.id].live if job and job.id in live else 0) for row, job in found]


async def _namesakes(tx: Tx, due: Sequence[Row]) -> dict[str, Job]:
    """By the numbers that the triggers have written down; by their names where they have none, or not any more."""
    ids = [row["job_id"] for row in due if row["job_id"] is not None]
    rows = [*await tx.fetch("jobs_by_ids", {"ids": ids})] if ids else []
    if unknown := {row["name"] for row in due} - {row["name"] for row in rows}:
        place = {"org_id": due[0]["org_id"], "namespace": due[0]["namespace"]}
        rows += await tx.fetch("jobs_by_names", {**place, "names": sorted(unknown)})
    return {job.name: job for job in map(job_to_start, rows)}


async def numbers_ahead(tx: Tx, *, count: int) -> Sequence[int]:
    """For what is to be written later; those that are not used are a gap."""
    return list(await tx.numbers(Kind.RUN, count))


async def moment(tx: Tx) -> Moment:
    """The store's clock, and nothing else."""
    return await tx.now()


def batched(foreseen: Sequence[Foreseen], size: int) -> Iterable[Sequence[Foreseen]]:
    return (foreseen[first : first + size] for first in range(0, len(foreseen), size))
