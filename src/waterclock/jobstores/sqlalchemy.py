"""APScheduler's name for a store in a SQL database; SQLAlchemy itself is not needed."""

from __future__ import annotations

from typing import Any

from waterclock.faces.library.serializers import Serializer
from waterclock.jobstores.sql import TABLE, SQLJobStore


class SQLAlchemyJobStore(SQLJobStore):
    """Takes what APScheduler's takes. Of an `engine` only the URL is used; `metadata` and `engine_options` are not.

    Plug-in name: `sqlalchemy`.
    """

    def __init__(
        self,
        url: str | None = None,
        engine: Any = None,
        tablename: str = TABLE,
        metadata: Any = None,
        pickle_protocol: int = 5,
        tableschema: str | None = None,
        engine_options: dict[str, Any] | None = None,
        *,
        serializer: str | Serializer = "json",
        lease_seconds: float = 30.0,
        keep_days: float = 30.0,
    ) -> None:
        if engine is not None:
            url = engine.url.render_as_string(hide_password=False)
        if not url:
            raise ValueError('Need either "engine" or "url" defined')
        super().__init__(
            url,
            f"{tableschema}.{tablename}" if tableschema else tablename,
            serializer=serializer,
            pickle_protocol=pickle_protocol,
            lease_seconds=lease_seconds,
            keep_days=keep_days,
        )
