"""The supervisor's way to the store: it renews leases by itself, over a database or over HTTP, as its worker works.

Neither is opened before it must: most supervisors have nothing to renew when they start.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from waterclock.app.folders import Folders
from waterclock.engine.work import StoreWork
from waterclock.runners.base import Leases
from waterclock.settings import Settings
from waterclock.stores.base import Database
from waterclock.stores.opening import database_from_url

if TYPE_CHECKING:
    from waterclock.app.http_work import HttpWork


def leases_of(settings: Settings) -> Leases:
    return HttpLeases(settings) if settings.is_remote else StoreLeases(settings.database_url)


class StoreLeases:
    """`Leases` over a database of its own, opened once: a store that comes back finds its way by itself.

    A renewal that takes too long is given up; the opening that it waits for goes on, or a store that is slow to open
    would be opened from the beginning by each renewal, until no lease is left.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self._opening: asyncio.Task[Database] | None = None

    async def renew(self, held: Sequence[tuple[int, int]], ttl_seconds: float) -> frozenset[int]:
        if self._opening is None:
            self._opening = asyncio.create_task(self._open())
        database = await asyncio.shield(self._opening)
        return await StoreWork(database).renew(held, ttl_seconds)

    async def _open(self) -> Database:
        try:
            database = database_from_url(self._url)
            await database.open()
        except BaseException:
            self._opening = None  # the next renewal tries again
            raise
        return database


class HttpLeases:
    """`Leases` over the servers of a worker without a database: those that the last worker here was started with."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._folders = Folders(root=settings.data_dir.absolute())
        self._servers = ""
        self._work: HttpWork | None = None

    async def renew(self, held: Sequence[tuple[int, int]], ttl_seconds: float) -> frozenset[int]:
        return await (await self._reached()).renew(held, ttl_seconds)

    async def _reached(self) -> "HttpWork":
        servers = self._folders.servers.read_text()
        if self._work is None or servers != self._servers:
            from waterclock.app.http_work import HttpWork
            from waterclock.app.server_line import ServerLine

            line = ServerLine(replace(self._settings, server=servers))
            line.is_patient = True
            was, self._servers, self._work = self._work, servers, HttpWork(line, self._folders.host_id())
            if was:
                await was.close()
        return self._work
