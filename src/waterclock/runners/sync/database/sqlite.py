"""SQLite: a file of this machine, below the roots that an admin has named; its tables are read by DuckDB."""

import os
from collections.abc import Mapping, Sequence
from typing import Any

from waterclock.runners.sync.database.asked import Asked
from waterclock.runners.sync.database.columns import Column, Scale, scale_of
from waterclock.runners.sync.database.line import NAME, Line, identifier, text
from waterclock.runners.sync.database.wording import select
from waterclock.runners.sync.source import Means, SourceFailed


class Sqlite:
    def __init__(self, config: Mapping[str, Any], means: Means) -> None:
        self.path = path_within(str(config.get("path") or ""), means.roots)
        self.where = f"SQLite at {self.path}"

    def open(self) -> Line:
        line = Line(self.where, extension="sqlite_scanner", asks=lambda statement: f"({statement})")
        try:
            line.attach(self.path, "sqlite")
        except BaseException:
            line.close()
            raise
        return line

    def relation(self, asked: Asked) -> str:
        return f"{NAME}.{identifier(asked.table[-1])}"

    def columns(self, line: Line, asked: Asked) -> Sequence[Column]:
        shape = line.shape(select("*", self.relation(asked)))
        return [Column(name=name, kind=kind, scale=scale_of(kind)) for name, kind in shape]

    def identifier(self, name: str) -> str:
        return identifier(name)

    def literal(self, value: str, column: Column) -> str:
        return f"{text(value)}::{column.kind}"

    def latest(self, column: Column, lag_seconds: float | None) -> str:
        """By the clock of this machine."""
        ahead = "1 day" if lag_seconds is None else f"{-lag_seconds:f} seconds"
        moment = f"(now()::TIMESTAMP + INTERVAL '{ahead}')"
        return f"{moment}::DATE" if column.scale is Scale.DAY else moment

    def estimate(self, line: Line, asked: Asked) -> int | None:
        [found] = line.ask(select("count(*) AS found", self.relation(asked)))
        return int(found["found"])

    def version(self, line: Line) -> str:
        return f"a database with {len(self.tables(line))} tables"

    def tables(self, line: Line) -> Sequence[str]:
        ours = f"database_name = '{NAME}'"
        found = line.ask(select("table_name AS name", "duckdb_tables()", ours))
        views = line.ask(select("view_name AS name", "duckdb_views()", ours))
        return sorted(str(each["name"]) for each in (*found, *views))


def path_within(path: str, roots: Sequence[str]) -> str:
    """Where it really is, below a root; relative to one, or absolute."""
    if not path or "\0" in path:
        raise SourceFailed("SQLite: path names no file")
    for root in map(os.path.realpath, roots):
        real = os.path.realpath(os.path.join(root, path))
        if real.startswith(root.rstrip("/") + "/") and os.path.isfile(real):
            return real
    known = ", ".join(roots) or "none is set"
    raise SourceFailed(f"SQLite: path {path!r} is no file below a folder that jobs may read (lake.roots: {known})")
