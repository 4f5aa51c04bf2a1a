"""From a database's kind to what reads it: PostgreSQL, MySQL and SQLite by DuckDB, all others row by row."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from waterclock.domain.lake_sync import SourceKind
from waterclock.runners.sync.database.any_url import UrlSource, file_url
from waterclock.runners.sync.database.dialect import Dialect
from waterclock.runners.sync.database.mysql import Mysql
from waterclock.runners.sync.database.postgresql import Postgresql
from waterclock.runners.sync.database.source import DatabaseSource
from waterclock.runners.sync.database.sqlite import Sqlite
from waterclock.runners.sync.source import Means, Rows, Source, SourceFailed, Wanted


def database_source(kind: SourceKind, config: Mapping[str, Any], means: Means) -> Source:
    match kind:
        case SourceKind.POSTGRESQL:
            return _served(lambda database: Postgresql(config, means, database=database))
        case SourceKind.MYSQL:
            return _served(lambda database: Mysql(config, means, database=database))
        case SourceKind.SQLITE:
            return SqliteSource(Sqlite(config, means), means)
        case SourceKind.SQLALCHEMY:
            return UrlSource(str(config.get("url") or ""), means)
        case _:
            raise SourceFailed(f"a source of the kind {kind} is no database")


def _served(dialect_of: Callable[[str], Dialect]) -> Source:
    return DatabaseSource(dialect_of(""), dialect_of)


class SqliteSource:
    """Tables by DuckDB. A query is SQLite's own, of whose results DuckDB knows no types: it goes the slow way."""

    def __init__(self, dialect: Sqlite, means: Means) -> None:
        self._tables = DatabaseSource(dialect)
        self._dialect, self._means = dialect, means

    def test(self) -> str:
        return self._tables.test()

    def tables(self) -> Sequence[str]:
        return self._tables.tables()

    def read(self, wanted: Wanted) -> Rows:
        if not wanted.task.get("query"):
            return self._tables.read(wanted)
        url = file_url(self._dialect.path)
        return UrlSource(url, self._means, where=self._dialect.where, is_file=True).read(wanted)
