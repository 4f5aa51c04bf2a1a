"""The database that a URL of SQLAlchemy's names, for our own drivers; shown without its password."""

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

from waterclock.faces.cli.failure import Refused

SCHEMES: Final = {
    "sqlite": "sqlite",
    "postgresql": "postgresql",
    "postgres": "postgresql",
    "mysql": "mysql",
    "mariadb": "mysql",
}
SAY: Final = "sqlite:///jobs.sqlite, postgresql://user:password@host/name or mysql://user:password@host/name"
PASSWORD: Final = "MYSQL_PWD"  # as MySQL's own programs have it: a password in a command line is seen by all
# What asyncpg knows; SQLAlchemy's other drivers have options that it would send to the server.
POSTGRES_OPTIONS: Final = frozenset(
    (
        *("host", "port", "user", "password", "passfile", "dbname", "database", "service", "servicefile"),
        *("sslmode", "sslcert", "sslkey", "sslrootcert", "sslcrl", "sslpassword", "target_session_attrs"),
    )
)
_HOST: Final = r"(\[[^\]]+\]|[^:\[\]]*)(:\d+)?"
_HOSTS: Final = re.compile(f"{_HOST}(,{_HOST})*")
MYSQL_OPTIONS: Final = frozenset({"unix_socket"})
OPTIONS: Final = {"postgresql": POSTGRES_OPTIONS, "mysql": MYSQL_OPTIONS, "sqlite": frozenset[str]()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    kind: str  # sqlite, postgresql, mysql
    url: str  # as our stores take it

    @classmethod
    def from_url(cls, url: str, option: str = "URL") -> "Place":
        """With or without a driver's name in it: `mysql+pymysql://…`."""
        try:
            parts = urlsplit(url)
        except ValueError as problem:
            raise Refused(f"{option}: cannot be read: {problem}") from None
        kind = SCHEMES.get(parts.scheme.partition("+")[0])
        if kind is None:
            raise Refused(f"{option}: say which database: {SAY}")
        if not _HOSTS.fullmatch(parts.netloc.rpartition("@")[2]):  # not repeated: it may be a piece of a password
            raise Refused(f"{option}: host and port cannot be read: {SAY}; in a password / is %2F")
        wanted = [(name, value) for name, value in parse_qsl(parts.query) if name in OPTIONS[kind]]
        netloc = _with_password(parts.netloc) if kind == "mysql" else parts.netloc
        place = cls(kind=kind, url=f"{kind}://{netloc}{parts.path}{'?' if wanted else ''}{urlencode(wanted)}")
        if kind == "sqlite" and str(place.path) in ("", ".", ":memory:"):
            raise Refused(
                f"{option}: a database in memory is gone with its process: name a file, sqlite:///jobs.sqlite"
            )
        return place

    @property
    def path(self) -> Path:
        """Of an SQLite file."""
        return Path(unquote(self.url.removeprefix("sqlite://").removeprefix("/")))

    def __str__(self) -> str:
        parts = urlsplit(self.url)
        user, at, host = parts.netloc.rpartition("@")
        shown = f"{user.partition(':')[0]}{at}{host}"
        return f"{self.kind}://{shown}{parts.path}"


def _with_password(netloc: str) -> str:
    user, at, host = netloc.rpartition("@")
    if at and ":" not in user and (password := os.environ.get(PASSWORD)):
        return f"{user}:{quote(password, safe='')}@{host}"
    return netloc
