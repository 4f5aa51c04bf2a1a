"""A program of the tests, under the interpreter that has DuckDB: it runs syncs as a worker's program would, in forks.

Whoever connects has a process of its own, whose number is the first line that it hears. A line is a JSON object, and so
is each answer. A sync passes points: before its sweep, its opening and each batch, while it puts rows in place at each
call of whatever it writes to, and around its bookmark. At the point that it is told, it kills or stops itself.
"""

import json
import os
import signal
import socket
import sys
import traceback
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, TextIO

import psycopg
import pymysql
from botocore.client import BaseClient

from waterclock import __version__
from waterclock.runners.lake.sync_task import VERSION
from waterclock.runners.sql.clickhouse_server import Server
from waterclock.runners.sql.duckdb_file import DuckdbFile
from waterclock.runners.sql.hdfs import HdfsTree
from waterclock.runners.sql.loading import Loading
from waterclock.runners.sql.local import LocalTree
from waterclock.runners.sql.outputs_of import preload
from waterclock.runners.sync import bookmarks, main
from waterclock.runners.sync.source import Wanted

_LIBRARIES = ("duckdb", "sqlalchemy", "waterclock.runners.sync.syncing", "waterclock.runners.sync.databases")


@dataclass(slots=True, kw_only=True)
class Points:
    """Those that were passed, by name; at the one with the number `at` the process is sent the signal."""

    at: int = 0
    signal: int = signal.SIGKILL
    passed: list[str] = field(default_factory=list)
    is_committing: bool = False

    def pass_by(self, name: str) -> None:
        self.passed.append(name)
        if len(self.passed) == self.at:
            os.kill(os.getpid(), self.signal)


def run(order: str, at: int = 0, signal_: int = signal.SIGKILL, batch_rows: int = 0) -> dict[str, Any]:
    """The program's exit code, and the points that it passed."""
    points = Points(at=at, signal=signal_)
    watch(points)
    if batch_rows:
        Wanted.__init__.__kwdefaults__ = {**(Wanted.__init__.__kwdefaults__ or {}), "batch_rows": batch_rows}
    os.environ[VERSION] = __version__
    return {"code": main.main(["sync", order]), "points": points.passed}


def watch(points: Points) -> None:
    for name in ("sweep", "open", "write"):
        setattr(Loading, name, _before(getattr(Loading, name), points, name))
    setattr(Loading, "put_in_place", _committing(Loading.put_in_place, points))  # noqa: B010
    setattr(bookmarks, "write", _around(bookmarks.write, points, "bookmark"))  # noqa: B010
    for owner, name in written_by():
        setattr(owner, name, _while_committing(getattr(owner, name), points, name))


def written_by() -> list[tuple[Any, str]]:
    """What talks to the places that rows go to."""
    return [
        (LocalTree, "_opened"),
        (HdfsTree, "_client"),
        (Server, "ask"),
        (BaseClient, "_make_api_call"),
        (psycopg.Connection, "execute"),
        (pymysql.connections.Connection, "query"),
        (DuckdbFile, "_rows"),
    ]


def _before(call: Any, points: Points, name: str) -> Any:
    def called(*given: Any, **named: Any) -> Any:
        points.pass_by(name)
        return call(*given, **named)

    return called


def _while_committing(call: Any, points: Points, name: str) -> Any:
    def called(*given: Any, **named: Any) -> Any:
        if points.is_committing:
            points.pass_by(f"commit: {name}")
        return call(*given, **named)

    return called


def _committing(call: Any, points: Points) -> Any:
    def called(*given: Any, **named: Any) -> Any:
        points.pass_by("commit")
        points.is_committing = True
        answer = call(*given, **named)
        points.is_committing = False
        points.pass_by("committed")
        return answer

    return called


def _around(call: Any, points: Points, name: str) -> Any:
    def called(*given: Any, **named: Any) -> Any:
        points.pass_by(name)
        answer = call(*given, **named)
        points.pass_by(f"{name} written")
        return answer

    return called


def parquet(path: str) -> list[list[Any]]:
    import pyarrow.parquet as pq

    return list(map(list, zip(*pq.read_table(path, partitioning=None).to_pydict().values(), strict=True)))


def duckdb_table(path: str, statement: str) -> list[list[Any]]:
    import duckdb

    with duckdb.connect(path, read_only=True) as file:
        return list(map(list, file.execute(statement).fetchall()))


DOES: Mapping[str, Callable[..., object]] = {"run": run, "parquet": parquet, "duckdb_table": duckdb_table}


def serve(line: TextIO) -> None:
    print(os.getpid(), file=line, flush=True)
    for text in line:
        asked = json.loads(text)
        try:
            answer = {"done": DOES[asked.pop("do")](**asked)}
        except BaseException:  # whoever asked is to see it
            answer = {"failed": traceback.format_exc()}
        print(json.dumps(answer, default=str), file=line, flush=True)


def mother(path: str) -> None:
    """A process for each that connects."""
    preload()
    for name in _LIBRARIES:
        with suppress(ImportError):
            __import__(name)
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
    mother(sys.argv[1])
