"""The servers that a store's URL names: one of them takes writes, and the first such that answers is used."""

import re
from typing import Any, Final

from waterclock.domain.errors import InvalidInput
from waterclock.stores.mysql.connecting import Flavour, Place
from waterclock.stores.mysql.faults import DRIVER_ERRORS

_BETWEEN: Final = re.compile(r",(?=(?:mysql|mariadb)://)")  # a password may have commas, too
READ_ONLY: Final = "SELECT @@global.read_only AS read_only"


class Places:
    """`mysql://db1/wc,mysql://db2/wc`, tried in this order for every new connection."""

    def __init__(self, urls: str) -> None:
        self._places = [Place.from_url(url) for url in _BETWEEN.split(urls)]
        names = {place.database for place in self._places}
        if len(names) > 1:
            raise InvalidInput(f"names different databases: {', '.join(sorted(names))}", field="database URL")
        (self.database,) = names

    async def connect(self, *, autocommit: bool) -> tuple[Any, Flavour]:
        *others, last = self._places
        for place in others:
            try:
                return await self._connect(place, autocommit=autocommit)
            except DRIVER_ERRORS:
                continue
        return await self._connect(last, autocommit=autocommit)

    async def _connect(self, place: Place, *, autocommit: bool) -> tuple[Any, Flavour]:
        """One that only follows another is of no use: with several, it is passed over."""
        connection, flavour = await place.connect(autocommit=autocommit)
        if len(self._places) > 1 and await _is_read_only(connection):
            connection.close()
            raise ConnectionRefusedError(f"{place.host}:{place.port} is read-only")
        return connection, flavour


async def _is_read_only(connection: Any) -> bool:
    try:
        cursor = connection.cursor()
        await cursor.execute(READ_ONLY)
        return bool((await cursor.fetchone())["read_only"])
    except BaseException:
        connection.close()
        raise
