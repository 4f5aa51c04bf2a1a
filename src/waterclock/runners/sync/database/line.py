"""A line to a database: DuckDB, with the database attached to it, read-only and in one transaction."""

import importlib.util
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from waterclock.runners.sync.database.faults import said_of
from waterclock.runners.sync.source import SourceFailed

if TYPE_CHECKING:
    import pyarrow as pa

NAME: Final = "src"  # of the database in DuckDB
# Nothing is fetched, and nothing is left on the disk.
_CONFIG: Final[Mapping[str, object]] = {
    "threads": 2,
    "memory_limit": "400MB",
    "temp_directory": "",
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "allow_persistent_secrets": False,
}


class Line:
    def __init__(self, where: str, *, extension: str, asks: Callable[[str], str], hidden: Sequence[str] = ()) -> None:
        """`asks`: from a statement of the database's own to what DuckDB reads its rows from."""
        import duckdb

        self.where, self._hidden, self._asks = where, tuple(hidden), asks
        self.cancel: Callable[[], None] | None = None  # ends a statement of which rows are still to come
        path = extension_path(extension)
        with said_of(where, *self._hidden):
            self._duck: Any = duckdb.connect(":memory:", config=dict(_CONFIG))
            self._duck.execute("SET TimeZone = 'UTC'")
            self._duck.execute("SET enable_progress_bar = false")  # it would be drawn into the log
            self._duck.execute(f"LOAD {text(str(path))}")

    def set(self, **settings: object) -> None:
        with said_of(self.where, *self._hidden):
            for name, value in settings.items():
                self._duck.execute(f"SET {name} = {text(str(value))}")

    def attach(self, address: str, kind: str, secret: Mapping[str, object] | None = None) -> None:
        """What is in a secret is in no message."""
        given = ", SECRET of_source" if secret else ""
        with said_of(self.where, *self._hidden):
            if secret:
                members = ", ".join(f"{name} {text(str(value))}" for name, value in secret.items())
                self._duck.execute(f"CREATE OR REPLACE TEMPORARY SECRET of_source (TYPE {kind}, {members})")
            self._duck.execute(f"ATTACH {text(address)} AS {NAME} (TYPE {kind}, READ_ONLY{given})")
            self._duck.begin()

    def ask(self, statement: str) -> list[dict[str, Any]]:
        """All rows of a statement that has few."""
        with said_of(self.where, *self._hidden):
            found = self._duck.execute(f"FROM {self._asks(statement)}").to_arrow_table()
            return list(found.to_pylist())

    def shape(self, statement: str) -> list[tuple[str, str]]:
        """Names and DuckDB's types of what it would give."""
        with said_of(self.where, *self._hidden):
            found = self._duck.execute(f"DESCRIBE FROM {self._asks(statement)}").fetchall()
            return [(str(name), str(kind)) for name, kind, *_ in found]

    def stream(self, statement: str, rows: int) -> "pa.RecordBatchReader":
        with said_of(self.where, *self._hidden):
            return self._duck.execute(f"FROM {self._asks(statement)}").to_arrow_reader(rows)

    def ask_beside(self, statement: str) -> None:
        """While rows of another statement are still to come."""
        import duckdb

        with suppress(duckdb.Error):  # a server that is gone has nothing more to send
            beside = self._duck.cursor()
            beside.execute(f"FROM {self._asks(statement)}").fetchall()
            beside.close()

    def reading(self) -> Any:
        return said_of(self.where, *self._hidden)

    def close(self) -> None:
        """A transaction that is open when DuckDB closes, over a connection that is lost, would end this process."""
        import duckdb

        with suppress(duckdb.Error):
            self._duck.rollback()
        self._duck.close()


def extension_path(name: str) -> Path:
    """In its wheel: DuckDB's own INSTALL would need a network."""
    import duckdb

    package = f"duckdb_extension_{name}"
    found = importlib.util.find_spec(package)
    for folder in (found.submodule_search_locations or ()) if found else ():
        path = Path(folder) / "extensions" / f"v{duckdb.__version__}" / f"{name}.duckdb_extension"
        if path.is_file():
            return path
    wheel = package.replace("_", "-")
    raise SourceFailed(
        f"{wheel} {duckdb.__version__} is not there: install it beside DuckDB, under the interpreter of sync.python"
    )


def text(value: str) -> str:
    """Quoted for DuckDB and, as far as it holds no backslash, for any other."""
    escaped = value.replace("'", "''")
    return f"'{escaped}'"


def identifier(name: str) -> str:
    escaped = name.replace('"', '""')
    return f'"{escaped}"'
