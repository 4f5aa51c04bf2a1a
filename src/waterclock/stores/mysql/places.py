"""The servers of a setting for MySQL: `mysql://user@db1/wc,mysql://user@db2/wc`."""

import re
from collections.abc import Awaitable, Callable
from typing import Any, Final

from waterclock.domain.errors import InvalidInput
from waterclock.stores.mysql.connecting import Flavour, Place
from waterclock.stores.mysql.faults import DRIVER_ERRORS
from waterclock.stores.places import Places

_BETWEEN: Final = re.compile(r",(?=(?:mysql|mariadb)://)")  # a password may have commas, too


class MysqlPlaces:
    """They are to hold one database, which one of them takes writes to."""

    def __init__(self, urls: str, moved: Callable[[], Awaitable[None]]) -> None:
        places = [Place.from_url(url) for url in _BETWEEN.split(urls)]
        names = {place.database for place in places}
        if len(names) > 1:
            raise InvalidInput(f"names different databases: {', '.join(sorted(names))}", field="database URL")
        (self.database,) = names
        self._places = Places([(place.shown, place) for place in places], DRIVER_ERRORS, moved)

    @property
    def several(self) -> bool:
        return self._places.several

    async def connect(self, *, autocommit: bool) -> tuple[Any, Flavour]:
        """With one server alone the caller hears from its statements that it takes no writes, and can still read."""
        return await self._places.first(lambda place: place.connect(autocommit=autocommit, writable=self.several))
