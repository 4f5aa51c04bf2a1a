"""The servers of a PostgreSQL URL: `postgresql://user@host1:5432,host2:5432/name`."""

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final
from urllib.parse import parse_qs, unquote, urlsplit

import asyncpg

from waterclock.domain.errors import InvalidInput
from waterclock.stores.places import Places, ReadOnly
from waterclock.stores.postgres.faults import DRIVER_ERRORS

READ_WRITE: Final = "read-write"
WRITING: Final = frozenset({READ_WRITE, "primary"})
SEVERAL: Final = "several servers are named in one URL: postgresql://user:password@host1:5432,host2:5432/name"

_HOST: Final = re.compile(r"(\[[^\[\]]+\]|[^:\[\]]+)(?::(\d+))?")

# What asyncpg is told beside the URL to reach one of them.
Server = Mapping[str, Any]


class PostgresPlaces:
    """Each is asked by itself, for asyncpg would spend all its time on a first one that is silent."""

    def __init__(self, url: str, moved: Callable[[], Awaitable[None]]) -> None:
        self._url = url
        self._places = Places(_servers(url), DRIVER_ERRORS, moved)

    async def connect(self, _url: object = None, **how: Any) -> Any:
        """Also for asyncpg's pools, which hand over the URL, too."""
        return await self._places.first(lambda server: self._reach(server, how))

    def has_left(self, connection: Any) -> bool:
        """Its server was told to take no more writes. It has said so with its last answer: nothing is asked here."""
        return self._places.several and getattr(connection.get_settings(), "default_transaction_read_only", "") == "on"

    async def _reach(self, server: Server, how: Mapping[str, Any]) -> Any:
        try:
            return await asyncpg.connect(self._url, **how, **server)
        except asyncpg.TargetServerAttributeNotMatched:
            raise ReadOnly from None
        except (asyncpg.ClientConfigurationError, ValueError) as problem:
            raise InvalidInput(str(problem), field="database URL") from problem


def _servers(url: str) -> Sequence[tuple[str, Server]]:
    parts = urlsplit(url)
    named = parts.netloc.rpartition("@")[2]
    options = parse_qs(parts.query)
    if "://" in parts.path or any("," in host for host in options.get("host", ())):
        raise InvalidInput(SEVERAL, field="database URL")
    found = [(name, _address(name)) for name in named.split(",")] if named else []
    if len(found) < 2:
        return [(named or "its default place", {})]
    wanted = options.get("target_session_attrs", [READ_WRITE])[-1]
    if wanted not in WRITING:
        reason = f"target_session_attrs must be {READ_WRITE} or primary: the store is written to"
        raise InvalidInput(reason, field="database URL", value=wanted)
    return [(name, {**address, "target_session_attrs": wanted}) for name, address in found]


def _address(name: str) -> Server:
    """What could be a piece of a password is not repeated: one with a slash in it makes a port of its beginning."""
    match = _HOST.fullmatch(name)
    if match is None or int(match[2] or 0) > 65_535:
        reason = "host and port cannot be read: postgresql://user:password@host:5432/name, in a password / is %2F"
        raise InvalidInput(reason, field="database URL")
    return {"host": unquote(match[1].strip("[]")), **({"port": int(match[2])} if match[2] else {})}
