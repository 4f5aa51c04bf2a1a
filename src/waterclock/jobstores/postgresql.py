"""Jobs in PostgreSQL: for programs on many machines."""

from __future__ import annotations

from typing import Any

from waterclock.jobstores.sql import TABLE, SQLJobStore


class PostgreSQLJobStore(SQLJobStore):
    """`postgresql://user:password@host[,host]/name`. Plug-in name: `postgresql`."""

    def __init__(self, url: str, tablename: str = TABLE, **options: Any) -> None:
        if not url.startswith(("postgresql", "postgres")):
            raise ValueError("The URL of a PostgreSQLJobStore begins with postgresql://")
        super().__init__(url, tablename, **options)
