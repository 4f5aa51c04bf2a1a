"""The supervisor's way to the store: it renews leases by itself, and opens the database only when it must."""

import contextlib
from collections.abc import Sequence

from waterclock.engine.work import StoreWork
from waterclock.stores.base import Database
from waterclock.stores.opening import database_from_url


class StoreLeases:
    """`Leases` over a database of its own; a broken one is opened anew at the next renewal."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._database: Database | None = None

    async def renew(self, held: Sequence[tuple[int, int]], ttl_seconds: float) -> frozenset[int]:
        if self._database is None:
            database = database_from_url(self._url)
            await database.open()
            self._database = database
        try:
            return await StoreWork(self._database).renew(held, ttl_seconds)
        except BaseException:
            database, self._database = self._database, None
            with contextlib.suppress(Exception):
                await database.close()
            raise
