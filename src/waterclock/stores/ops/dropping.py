"""Triggers that go together with the jobs of the same names: many at once. Their runs stay, and go on."""

from collections.abc import Sequence

from waterclock.stores.base import Tx


async def delete_with_jobs(tx: Tx, trigger_ids: Sequence[int], job_ids: Sequence[int]) -> None:
    """The caller holds them all. The jobs' versions stay: whoever claims one of their runs reads them.

    Only a program's triggers go like this: they have neither conditions nor actions of their own.
    """
    await tx.run("delete_triggers", {"ids": trigger_ids})
    if job_ids:
        await tx.run("delete_jobs", {"ids": job_ids})


async def forget_versions(tx: Tx, job_ids: Sequence[int]) -> None:
    """Of those that are gone and have left no attempts; with any other it is as if nobody had asked."""
    if job_ids:
        await tx.run("delete_versions_of_gone_jobs", {"job_ids": job_ids})
