"""From a URL to the database that it names."""

from typing import Final
from urllib.parse import unquote, urlsplit

from waterclock.domain.errors import InvalidInput
from waterclock.stores.base import Database

KNOWN: Final = (
    "sqlite:///relative/path",
    "sqlite:////absolute/path",
    "sqlite:// (in memory)",
    "postgresql://user@host[,host]/name",
    "mysql://user:password@host/name[,mysql://…]",
    "mariadb://…",
)
_MEMORY: Final = frozenset({"", "/:memory:", ":memory:"})


def database_from_url(url: str) -> Database:
    """Not opened yet. The drivers are imported only for their own scheme."""
    match _scheme(url):
        case "sqlite":
            return _sqlite(url)
        case "postgresql" | "postgres":
            return _postgres(url)
        case "mysql" | "mariadb":
            return _mysql(url)
        case scheme:
            known = ", ".join(KNOWN)
            raise InvalidInput(f"unknown scheme {scheme!r}; known are {known}", field="database URL")


def _scheme(url: str) -> str:
    """Nothing of a URL is shown in an error: it may have a password in it."""
    try:
        return urlsplit(url).scheme
    except ValueError as problem:
        raise InvalidInput(f"cannot be read: {problem}", field="database URL") from None


def _sqlite(url: str) -> Database:
    from waterclock.stores.sqlite import SqliteDatabase

    where = unquote(url.removeprefix("sqlite:").removeprefix("//"))
    return SqliteDatabase(":memory:" if where in _MEMORY else where.removeprefix("/"))


def _postgres(url: str) -> Database:
    try:
        from waterclock.stores.postgres import PostgresDatabase
    except ModuleNotFoundError as missing:
        raise InvalidInput(f"PostgreSQL needs the package {missing.name!r}", field="database URL") from missing
    return PostgresDatabase(url)


def _mysql(url: str) -> Database:
    try:
        from waterclock.stores.mysql import MysqlDatabase
    except ModuleNotFoundError as missing:
        raise InvalidInput(f"MySQL and MariaDB need the package {missing.name!r}", field="database URL") from missing
    return MysqlDatabase(url)
