"""Jobs in MySQL or MariaDB: for programs on many machines."""

from __future__ import annotations

from typing import Any

from waterclock.jobstores.sql import TABLE, SQLJobStore


class MySQLJobStore(SQLJobStore):
    """`mysql://user:password@host/name`, or `mariadb://…`. Plug-in name: `mysql`."""

    def __init__(self, url: str, tablename: str = TABLE, **options: Any) -> None:
        if not url.startswith(("mysql", "mariadb")):
            raise ValueError("The URL of a MySQLJobStore begins with mysql:// or mariadb://")
        super().__init__(url, tablename, **options)
