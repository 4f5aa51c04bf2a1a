"""A connection that knows the server's own types from the first one that asked for them."""

from collections.abc import Collection
from typing import Any, Final

import asyncpg

FIRST_OF_USERS: Final = 16_384  # below it a type has the same number in every database

_known: dict[frozenset[int], Any] = {}


class PostgresConnection(asyncpg.Connection):  # type: ignore[misc]  # it tells no types
    """asyncpg asks for arrays on every connection anew, three round trips each time.

    Should it call its own method by another name one day, it asks again: slower, and right all the same.
    """

    planned_at = 0.0  # when it last forgot its plans, by the monotonic clock

    async def _introspect_types(self, typeoids: Collection[int], timeout: float | None) -> Any:
        wanted = frozenset(typeoids)
        if max(wanted) >= FIRST_OF_USERS:
            return await super()._introspect_types(typeoids, timeout)
        if wanted not in _known:
            _known[wanted] = await super()._introspect_types(typeoids, timeout)
        return _known[wanted]
