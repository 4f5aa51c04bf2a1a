"""Bookmarks: seen by everyone in the organisation; whoever may run a job may set or reset where its next run begins."""

from waterclock.domain.access import Caller, Right
from waterclock.domain.bookmark import Bookmark, check_content
from waterclock.domain.errors import NotFound
from waterclock.domain.lake_checks import check_watermark
from waterclock.domain.lake_sync import SYNC_KINDS
from waterclock.services.jobs import Jobs
from waterclock.stores.base import Database
from waterclock.stores.ops import bookmarks as ops


class Bookmarks:
    def __init__(self, database: Database, jobs: Jobs) -> None:
        self._database = database
        self._jobs = jobs

    async def get(self, caller: Caller, namespace: str, job_name: str) -> Bookmark:
        job = await self._jobs.get(caller, namespace, job_name)
        found = await self._database.read(ops.get_bookmark, job_id=job.id)
        if found is None:
            raise NotFound("bookmark of job", job_name)
        return found

    async def set(self, caller: Caller, namespace: str, job_name: str, content: str) -> Bookmark:
        caller.needs(Right.RUN)
        check_content(content)
        if (await self._jobs.get(caller, namespace, job_name)).spec.kind in SYNC_KINDS:
            check_watermark(content)
        return await self._database.write(
            ops.set_bookmark, org_id=caller.org_id, namespace=namespace, name=job_name, content=content
        )

    async def reset(self, caller: Caller, namespace: str, job_name: str) -> Bookmark:
        """The next run begins from nothing; the entry says how often that was asked for."""
        caller.needs(Right.RUN)
        return await self._database.write(ops.reset_bookmark, org_id=caller.org_id, namespace=namespace, name=job_name)
