"""Jobs in a SQLite file: for the programs of one machine."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import quote

from waterclock.jobstores.sql import TABLE, SQLJobStore


class SQLiteJobStore(SQLJobStore):
    """By the file's path. Plug-in name: `sqlite`."""

    def __init__(self, path: str | Path = "jobs.sqlite", tablename: str = TABLE, **options: Any) -> None:
        super().__init__(f"sqlite:///{quote(str(path))}", tablename, **options)
