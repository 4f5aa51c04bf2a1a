"""A program of the tests, under the interpreter that has pyarrow: it opens, writes and ends outputs as its lines say.

Whoever connects has a process of its own, whose number is the first line that it hears. A line is a JSON object, and so
is each answer; what an output refuses is its answer, in words.
"""

import itertools
import json
import os
import re
import signal
import socket
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TextIO

import pyarrow as pa
from botocore.client import BaseClient

from waterclock.runners.lake.order import Order
from waterclock.runners.sql.clickhouse_server import Server
from waterclock.runners.sql.duckdb_file import DuckdbFile
from waterclock.runners.sql.hdfs import HdfsTree
from waterclock.runners.sql.local import LocalTree
from waterclock.runners.sql.mysql import MysqlDatabase
from waterclock.runners.sql.outputs import Output, OutputFailed, Tag
from waterclock.runners.sql.outputs_of import outputs_of, preload
from waterclock.runners.sql.postgresql import PostgresqlDatabase

_DECIMAL = re.compile(r"decimal\((\d+), (\d+)\)")
_LIST = re.compile(r"list<(.+)>")
_ZONED = re.compile(r"timestamp (.+)")


class Writing:
    def __init__(self) -> None:
        self._outputs: list[Output] = []

    def make(self, outputs: list[Mapping[str, Any]], attempt: int, job: int, order: Mapping[str, Any]) -> list[str]:
        whole = Order(kind="sql_job", job_id=job, run_id="r", attempt_id=attempt, task={}, cache="", **order)
        self._outputs = outputs_of(outputs, tag=Tag(job_id=job, attempt_id=attempt), order=whole)
        return [each.where for each in self._outputs]

    def sweep(self) -> None:
        for each in self._outputs:
            each.sweep()

    def open(self, columns: Mapping[str, str]) -> None:
        self._schema = pa.schema([(name, type_of(kind)) for name, kind in columns.items()])
        for each in self._outputs:
            each.open(self._schema)

    def write(self, rows: list[list[Any]], times: int = 1) -> None:
        columns = [
            column_of(values, field.type) for values, field in zip(zip(*rows, strict=True), self._schema, strict=True)
        ]
        batch = pa.RecordBatch.from_arrays(columns, schema=self._schema)
        for _ in range(times):
            for each in self._outputs:
                each.write(batch)

    def commit(self) -> list[list[int]]:
        return [[written.rows, written.bytes] for written in [each.commit() for each in self._outputs]]

    def abort(self) -> None:
        for each in self._outputs:
            each.abort()

    def die(self, calls: int) -> None:
        """-9, before so many more calls of whatever it writes to."""
        left = itertools.count(calls - 1, -1)
        for owner, name in (
            (HdfsTree, "_client"),
            (LocalTree, "_opened"),
            (Server, "ask"),
            (BaseClient, "_make_api_call"),
            (PostgresqlDatabase, "_connected"),
            (MysqlDatabase, "_connected"),
            (DuckdbFile, "_complaining"),
        ):
            setattr(owner, name, _mortal(getattr(owner, name), left))

    def ask(self, kind: str, config: Mapping[str, Any], statement: str) -> list[list[Any]]:
        """Of a database, as whoever reads it."""
        if kind == "duckdb":
            import duckdb

            connection: Any = duckdb.connect(config["path"])
        elif kind == "mysql":
            import pymysql

            connection = pymysql.connect(**config, autocommit=True)
        else:
            import psycopg

            named = {**config, "dbname": config["database"]}
            del named["database"]
            connection = psycopg.connect(**named, autocommit=True)
        try:
            cursor = connection.cursor()
            cursor.execute(statement)
            return [list(row) for row in cursor.fetchall()] if cursor.description else []
        finally:
            connection.close()

    def read_parquet(self, path: str) -> list[list[Any]]:
        import pyarrow.parquet as pq

        table = pq.read_table(path, partitioning=None)
        return [
            [str(column.type) for column in table.columns],
            *map(list, zip(*table.to_pydict().values(), strict=True)),
        ]

    def read_rows(self, path: str) -> list[Mapping[str, Any]]:
        """Of all files there, whose columns may differ."""
        import duckdb

        found = duckdb.sql(f"SELECT * FROM read_parquet('{path}/*.parquet', union_by_name = true)")
        return [dict(zip(found.columns, row, strict=True)) for row in found.fetchall()]


def _mortal(call: Callable[..., Any], left: Iterator[int]) -> Callable[..., Any]:
    def mortal(*given: Any, **named: Any) -> Any:
        if next(left) == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return call(*given, **named)

    return mortal


def type_of(kind: str) -> pa.DataType:
    if found := _DECIMAL.fullmatch(kind):
        return pa.decimal128(*map(int, found.groups()))
    if found := _LIST.fullmatch(kind):
        return pa.list_(type_of(found.group(1)))
    if found := _ZONED.fullmatch(kind):
        return pa.timestamp("us", found.group(1))
    if kind == "struct":
        return pa.struct([("x", pa.int32()), ("y", pa.string())])
    if kind == "map":
        return pa.map_(pa.string(), pa.float64())
    return pa.timestamp("us") if kind == "timestamp" else pa.type_for_alias(kind)


def column_of(values: tuple[Any, ...], kind: pa.DataType) -> pa.Array:
    """JSON has no dates, decimals or bytes: these are texts, which Arrow reads."""
    if pa.types.is_map(kind):
        return pa.array([None if value is None else list(value.items()) for value in values], kind)
    if pa.types.is_list(kind) and pa.types.is_timestamp(kind.value_type):
        return pa.array(values, pa.list_(pa.string())).cast(kind)
    if pa.types.is_nested(kind) or not any(isinstance(value, str) for value in values):
        return pa.array(values, kind)
    if pa.types.is_timestamp(kind) and kind.tz:
        return pa.array(values, pa.string()).cast(pa.timestamp("us", "UTC")).cast(kind)
    if pa.types.is_binary(kind):
        return pa.array([None if value is None else bytes.fromhex(value) for value in values], kind)
    return pa.array(values, pa.string()).cast(kind)


def serve(line: TextIO) -> None:
    writing = Writing()
    print(os.getpid(), file=line, flush=True)
    for text in line:
        asked = json.loads(text)
        try:
            answer = {"done": getattr(writing, asked.pop("do"))(**asked)}
        except OutputFailed as failed:
            answer = {"failed": str(failed)}
        print(json.dumps(answer, default=str), file=line, flush=True)


def main(path: str) -> None:
    """A process for each that connects."""
    preload()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(f"{path}.new")
        door.listen()
        os.rename(f"{path}.new", path)
        while True:
            line, _ = door.accept()
            if os.fork() == 0:
                door.close()
                with line.makefile("rw", encoding="utf-8") as text:
                    serve(text)
                os._exit(0)
            line.close()


if __name__ == "__main__":
    main(sys.argv[1])
