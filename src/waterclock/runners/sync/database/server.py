"""Where a database's server is: its address, held to public ones unless an admin has allowed others."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from waterclock import reachable
from waterclock.runners.sync.source import Means, SourceFailed

_HOST: Final = re.compile(r"[A-Za-z0-9._:-]+", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    product: str
    host: str
    port: int
    database: str
    user: str
    password: str = field(repr=False)
    options: Mapping[str, str]
    addresses: tuple[str, ...] = ()  # that the host may be looked for at; none: wherever it is

    @property
    def where(self) -> str:
        return f"{self.product} at {self.host}:{self.port}/{self.database}"


def server_of(
    config: Mapping[str, Any], means: Means, *, product: str, port: int, known: frozenset[str], database: str = ""
) -> Server:
    """`known`: options that a source may have; others might lead it elsewhere, or to files of this machine."""
    host = str(config.get("host") or "")
    if not _HOST.fullmatch(host):
        raise SourceFailed(f"{product}: host {host!r} is neither a name nor an address")
    options = {str(name): str(value) for name, value in (config.get("options") or {}).items()}
    if unknown := sorted(options.keys() - known):
        raise SourceFailed(f"{product} at {host}: unknown option {unknown[0]!r}; known are {', '.join(sorted(known))}")
    return Server(
        product=product,
        host=host,
        port=int(config.get("port") or port),
        database=database or str(config.get("database") or ""),
        user=str(config.get("user") or ""),
        password=str(config.get("password") or ""),
        options=options,
        addresses=() if means.allows_private else public_addresses(host, product),
    )


def public_addresses(host: str, product: str) -> tuple[str, ...]:
    addresses = reachable.addresses_of(host)
    if not addresses:
        raise SourceFailed(f"{product} at {host}: it cannot be reached: nobody knows this host")
    if private := next((each for each in addresses if not reachable.is_public(each)), None):
        raise SourceFailed(
            f"{product} at {host}: it is at {private}, which is not a public address: "
            "an admin may allow such with the setting lake.private"
        )
    return tuple(addresses)
