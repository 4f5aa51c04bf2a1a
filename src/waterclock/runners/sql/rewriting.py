"""An upsert into a folder of Parquet: what is there without the keys that come, and the new rows, written anew.

Files cannot be changed in their middle: every upsert reads and writes all that is there. It is done by DuckDB on this
machine's disk, in bounded memory; what a killed run leaves lies in the room of its query or in the folder that it ran
in, and goes with that.
"""

import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from waterclock.runners.sql import parquet
from waterclock.runners.sql.duckdb_file import MEMORY
from waterclock.runners.sql.duckdb_types import shape_named, type_named
from waterclock.runners.sql.evolving import TableColumn, planned
from waterclock.runners.sql.files import FileOutput
from waterclock.runners.sql.folder import Folder
from waterclock.runners.sql.how import How
from waterclock.runners.sql.keys import check_key_values, check_keys
from waterclock.runners.sql.outputs import OutputFailed, Written
from waterclock.runners.sql.table_statements import quoted
from waterclock.runners.sql.words import text_of

if TYPE_CHECKING:
    import pyarrow as pa

_ROWS: Final = 100_000  # at a time
_SETTINGS: Final = {"memory_limit": MEMORY, "threads": "2", "autoinstall_known_extensions": "false"}


class RewrittenParquet:
    """`folder` is one whose parts are replaced."""

    def __init__(self, folder: Folder, *, how: How) -> None:
        self._folder, self._how = folder, how
        self._file = FileOutput(folder, parquet.ParquetRows, ending=parquet.ENDING)
        self._work: Path | None = None
        self._connection: Any = None
        self._rows = 0

    @property
    def where(self) -> str:
        return self._folder.where

    def sweep(self) -> None:
        self._folder.sweep()

    def open(self, schema: "pa.Schema") -> None:
        check_keys(schema, self._how.keys, self.where)
        self._connect()
        with self._complaining() as connection:
            connection.register("wc_batch", schema.empty_table())
            connection.execute("CREATE TABLE fresh AS SELECT * FROM wc_batch")
            connection.unregister("wc_batch")
        self._fetch()
        self._check_fits(schema)

    def write(self, batch: "pa.RecordBatch") -> None:
        import pyarrow as pa

        check_key_values(batch, self._how.keys, self.where)
        with self._complaining() as connection:
            connection.register("wc_batch", pa.Table.from_batches([batch]))
            connection.execute("INSERT INTO fresh SELECT * FROM wc_batch")
            connection.unregister("wc_batch")
        self._rows += batch.num_rows

    def commit(self) -> Written:
        with self._complaining() as connection:
            rows = connection.execute(self._merged()).to_arrow_reader(_ROWS)
            self._file.open(rows.schema)
            for batch in rows:
                self._file.write(batch)
        written = self._file.commit()
        self._clear()
        return Written(rows=self._rows, bytes=written.bytes)

    def abort(self) -> None:
        self._clear()
        self._file.abort()

    def _merged(self) -> str:
        """What is there without the new keys, and of each new key the row that came last."""
        keys = ", ".join(map(quoted, self._how.keys))
        same = " AND ".join(f"old.{quoted(key)} = fresh.{quoted(key)}" for key in self._how.keys)
        last = f"SELECT * FROM fresh QUALIFY row_number() OVER (PARTITION BY {keys} ORDER BY rowid DESC) = 1"  # noqa: S608
        if not self._parts():
            return last
        kept = f"SELECT * FROM {self._old()} AS old WHERE NOT EXISTS (SELECT 1 FROM fresh WHERE {same})"  # noqa: S608
        return f"({kept}) UNION ALL BY NAME ({last})"

    def _old(self) -> str:
        names = ", ".join("'" + str(part).replace("'", "''") + "'" for part in self._parts())
        return f"read_parquet([{names}], union_by_name = true, hive_partitioning = false)"

    def _check_fits(self, schema: "pa.Schema") -> None:
        if not self._parts():
            return
        with self._complaining() as connection:
            described = connection.execute(f"DESCRIBE SELECT * FROM {self._old()}").fetchall()  # noqa: S608
        there = [TableColumn(name=name, type=kind, shape=shape_named(kind)) for name, kind, *_ in described]
        planned(schema, there, type_named, where=self.where, may_change=self._how.may_change)

    def _fetch(self) -> None:
        """All that is there, to this machine: a folder cannot be asked for a row."""
        assert self._work is not None
        for number, (name, pieces) in enumerate(self._folder.parts()):
            if not name.endswith(f".{parquet.ENDING}"):
                raise OutputFailed(f"{self.where} holds {name!r}, which is not Parquet: an upsert cannot rewrite it")
            with open(self._work / f"old-{number:05}.{parquet.ENDING}", "wb") as file:
                for piece in pieces:
                    file.write(piece)

    def _parts(self) -> Sequence[Path]:
        assert self._work is not None
        return sorted(self._work.glob(f"old-*.{parquet.ENDING}"))

    def _connect(self) -> None:
        try:
            import duckdb
        except ImportError:
            raise OutputFailed(
                f"{self.where}: an upsert into Parquet needs DuckDB in the interpreter that runs it (sync.python)"
            ) from None
        room = os.environ.get("TMPDIR", ".")  # only queries have one of their own: see forks.py
        self._work = Path(tempfile.mkdtemp(prefix=".waterclock-upsert-", dir=room)).absolute()
        self._connection = duckdb.connect(str(self._work / "fresh.duckdb"), config=_SETTINGS)

    def _clear(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()
        if self._work is not None:
            shutil.rmtree(self._work, ignore_errors=True)

    @contextmanager
    def _complaining(self) -> Iterator[Any]:
        import duckdb

        try:
            yield self._connection
        except duckdb.Error as problem:
            raise OutputFailed(f"{self.where}: {text_of(problem)}") from None
