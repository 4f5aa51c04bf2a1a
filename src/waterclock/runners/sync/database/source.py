"""A database as a source: what is asked of it is put together here, and each kind words it in its own dialect."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from waterclock.runners.sync.database.asked import Asked, asked_of
from waterclock.runners.sync.database.columns import Column, typed
from waterclock.runners.sync.database.dialect import Dialect
from waterclock.runners.sync.database.line import Line
from waterclock.runners.sync.database.rows import READ_ROWS, DuckRows
from waterclock.runners.sync.database.window import Window, window_of
from waterclock.runners.sync.database.wording import select
from waterclock.runners.sync.source import SourceFailed, Wanted


class DatabaseSource:
    def __init__(self, dialect: Dialect, of_database: Callable[[str], Dialect] | None = None) -> None:
        """`of_database`: where a server has several, and a job may name another than the source does."""
        self._dialect, self._of_database = dialect, of_database

    def test(self) -> str:
        with self._line() as line:
            return f"{self._dialect.where}: {self._dialect.version(line)}"

    def tables(self) -> Sequence[str]:
        with self._line() as line:
            return self._dialect.tables(line)

    def read(self, wanted: Wanted) -> DuckRows:
        asked = asked_of(wanted)
        database = wanted.task.get("database_name")
        if database and self._of_database:
            return DatabaseSource(self._of_database(str(database)))._read(asked, wanted.batch_rows)
        return self._read(asked, wanted.batch_rows)

    def _read(self, asked: Asked, batch_rows: int) -> DuckRows:
        line = self._dialect.open()
        try:
            return self._rows(line, asked, batch_rows)
        except BaseException:
            line.close()
            raise

    def _rows(self, line: Line, asked: Asked, batch_rows: int) -> DuckRows:
        columns = self._dialect.columns(line, asked)
        if not columns:
            raise SourceFailed(f"{self._dialect.where}: there is no column to read")
        window = window_of(self._dialect, line, asked, columns)
        total = None if window.conditions or asked.query else self._dialect.estimate(line, asked)
        reader = line.stream(self._statement(asked, columns, window), min(READ_ROWS, batch_rows))
        return DuckRows(
            line,
            reader,
            schema=typed(reader.schema, columns),
            batch_rows=batch_rows,
            total=total,
            bookmark=window.bookmark,
        )

    def _statement(self, asked: Asked, columns: Sequence[Column], window: Window) -> str:
        named = self._dialect.identifier
        read = ", ".join(f"{each.read.format(named(each.name))} AS {named(each.name)}" for each in columns)
        return select(read, self._dialect.relation(asked), *window.conditions, limit=asked.most_rows)

    @contextmanager
    def _line(self) -> Iterator[Line]:
        line = self._dialect.open()
        try:
            yield line
        finally:
            line.close()
