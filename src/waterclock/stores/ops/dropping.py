"""Triggers that go together with the jobs of the same names: many at once. Their runs stay, and go on."""

from collections.abc import Sequence

from waterclock.stores.base import Tx, Values


def gone_with_jobs(trigger_ids: Sequence[int], job_ids: Sequence[int]) -> dict[str, list[Values]]:
    """For `run_together`. The caller holds them all. The jobs' versions stay: whoever claims a run reads them.

    Only a program's triggers go like this: they have neither conditions nor actions of their own.
    """
    return {
        "delete_triggers": [{"ids": trigger_ids}] if trigger_ids else [],
        "delete_jobs": [{"ids": job_ids}] if job_ids else [],
    }


async def forget_versions(tx: Tx, job_ids: Sequence[int]) -> None:
    """Of those that are gone and have left no attempts; with any other it is as if nobody had asked."""
    if job_ids:
        await tx.run("delete_versions_of_gone_jobs", {"job_ids": job_ids})
