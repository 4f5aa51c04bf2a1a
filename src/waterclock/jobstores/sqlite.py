"""Jobs in a SQLite file: for the programs of one machine."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import quote

from waterclock.jobstores.sql import TABLE, SQLJobStore


class SQLiteJobStore(SQLJobStore):
    """By the file's path, or by a URL as the other stores. Plug-in name: `sqlite`."""

    def __init__(
        self, path: str | Path = "jobs.sqlite", tablename: str = TABLE, *, url: str | None = None, **options: Any
    ) -> None:
        if url is not None and not url.startswith("sqlite:"):
            raise ValueError("The URL of a SQLiteJobStore begins with sqlite://")
        super().__init__(url or f"sqlite:///{quote(str(path))}", tablename, **options)
