"""Any database that SQLAlchemy has a dialect for: row by row, by a cursor of the server's where its driver has one."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from waterclock import reachable
from waterclock.runners.sync.database.asked import Asked, asked_of
from waterclock.runners.sync.database.faults import in_words
from waterclock.runners.sync.database.server import public_addresses
from waterclock.runners.sync.database.typed_rows import TypedRows
from waterclock.runners.sync.database.url_window import UrlWindow, url_window
from waterclock.runners.sync.source import Means, SourceFailed, Wanted

if TYPE_CHECKING:
    import sqlalchemy as sa

_READ_ROWS: Final = 4_096
_FILES: Final = frozenset({"sqlite", "duckdb", "access", "shillelagh"})
# In the query of a URL, where drivers look for another server or for files of this machine.
_ELSEWHERE: Final = frozenset(
    {"host", "hostaddr", "unix_socket", "socket", "service", "passfile", "odbc_connect", "dsn", "read_default_file"}
)
_STEADY: Final = ("REPEATABLE READ", "SNAPSHOT", "SERIALIZABLE")


class UrlSource:
    def __init__(self, url: str, means: Means, *, where: str = "", is_file: bool = False) -> None:
        import sqlalchemy as sa
        from sqlalchemy.pool import NullPool

        try:
            self._url = sa.make_url(url)
        except (sa.exc.ArgumentError, ValueError):
            raise SourceFailed(
                "the url is none of SQLAlchemy's, such as mssql+pymssql://user:password@host/db"
            ) from None
        self.where = where or self._url.set(query={}).render_as_string(hide_password=True)
        self._means = means
        if not is_file:
            _check(self._url, means, self.where)
        with self._said():
            self._engine = sa.create_engine(self._url, poolclass=NullPool)

    def test(self) -> str:
        with self._connected() as connection:
            version = ".".join(map(str, connection.dialect.server_version_info or ()))
            return f"{self.where}: {connection.dialect.name} {version}".rstrip()

    def tables(self) -> Sequence[str]:
        import sqlalchemy as sa

        with self._connected() as connection, self._said():
            found = sa.inspect(connection)
            return sorted([*found.get_table_names(), *found.get_view_names()])

    def read(self, wanted: Wanted) -> TypedRows:
        asked = asked_of(wanted)
        connection = self._open()
        try:
            return self._rows(connection, asked, wanted.batch_rows)
        except BaseException:
            connection.close()
            raise

    def _rows(self, connection: "sa.Connection", asked: Asked, batch_rows: int) -> TypedRows:
        relation = _relation(asked)
        with self._said():
            window = url_window(connection, relation, asked.increment, self.where)
            result = connection.execute(_statement(relation, asked, window))
            names = list(result.keys())
        return TypedRows(
            names,
            self._chunks(result, min(_READ_ROWS, batch_rows)),
            where=self.where,
            batch_rows=batch_rows,
            bookmark=window.bookmark,
            close=connection.close,
        )

    def _chunks(self, result: Any, rows: int) -> Iterator[Sequence[Sequence[Any]]]:
        with self._said():
            while chunk := result.fetchmany(rows):
                yield chunk

    def _open(self) -> "sa.Connection":
        with self._said(), reachable.public_only(unless=self._means.allows_private):
            connection = self._engine.connect()
            raw = connection.connection.dbapi_connection
            levels = connection.dialect.get_isolation_level_values(raw) if raw else ()
            level = next((each for each in _STEADY if each in levels), None)
            steady: dict[str, Any] = {"isolation_level": level} if level else {}
            return connection.execution_options(stream_results=True, max_row_buffer=_READ_ROWS, **steady)

    @contextmanager
    def _connected(self) -> Iterator["sa.Connection"]:
        connection = self._open()
        try:
            yield connection
        finally:
            connection.close()

    @contextmanager
    def _said(self) -> Iterator[None]:
        import sqlalchemy as sa

        hidden = str(self._url.password or "")
        try:
            yield
        except sa.exc.DBAPIError as problem:
            raise SourceFailed(in_words(self.where, str(problem.orig), hidden)) from None
        except sa.exc.NoSuchModuleError:
            raise SourceFailed(f"{self.where}: SQLAlchemy knows no {self._url.drivername!r} here: install it") from None
        except (sa.exc.SQLAlchemyError, NotImplementedError, OSError) as problem:
            raise SourceFailed(in_words(self.where, str(problem), hidden)) from None
        except ModuleNotFoundError as problem:
            raise SourceFailed(f"{self.where}: its driver is not installed: {problem.name}") from None


def _check(url: "sa.URL", means: Means, where: str) -> None:
    if url.get_backend_name() in _FILES:
        raise SourceFailed(f"{where}: it is a file of the worker: its kind is sqlite or local")
    if means.allows_private:
        return
    if (found := sorted(_ELSEWHERE & {name.lower() for name in url.query})) or not url.host:
        raise SourceFailed(
            f"{where}: its server has to stand where a URL names the host, not in {found or 'its driver'}"
        )
    public_addresses(url.host, url.get_backend_name())


def _relation(asked: Asked) -> "sa.FromClause":
    import sqlalchemy as sa

    if not asked.query:
        *schema, name = asked.table
        return sa.table(name, schema=schema[0] if schema else None)
    escaped = asked.query.replace(":", "\\:")  # else a name after it would be a parameter
    return sa.text(f"{escaped}\n").columns().subquery("asked")


def _statement(relation: "sa.FromClause", asked: Asked, window: UrlWindow) -> "sa.Select[Any]":
    import sqlalchemy as sa

    statement: sa.Select[Any] = sa.select(sa.literal_column("*")).select_from(relation).where(*window.conditions)
    return statement if asked.most_rows is None else statement.limit(asked.most_rows)


def file_url(path: str) -> str:
    """Of SQLite's, to be read and nothing else."""
    return f"sqlite:///file:{quote(path)}?mode=ro&uri=true"
