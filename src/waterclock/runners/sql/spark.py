"""Spark itself: a server of our own for local[…] and spark://…, started once and warm, or one that is there: sc://….

Executors are clients of it. A query of a client that dies ends with its stream; one that is cancelled is interrupted at
the server, and its stream's end is the proof.
"""

import os
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final
from urllib.parse import urlsplit

from waterclock.domain.lake import LakeTable
from waterclock.runners.sql import connect
from waterclock.runners.sql.engine import EngineMissing, Session
from waterclock.runners.sql.spark_server import SparkServer

MISSING: Final = (
    "{} is not installed in {}: pip install 'waterclock[spark]' there, or name the interpreter that has it in the "
    "setting sql.python"
)
LOCAL: Final = "local[*]"
CONNECT: Final = "sc://"
_S3: Final = re.compile("^s3://")
USER: Final = "waterclock"  # sessions are a user's: whoever buries one must be the same


class Spark:
    dies_with_its_process = False

    def __init__(self, remote: str) -> None:
        self._remote = remote or LOCAL
        self._server: SparkServer | None = None

    @property
    def title(self) -> str:
        from pyspark import __version__

        if self._server is None:
            return f"Spark at {urlsplit(self._remote).netloc}"
        return f"Spark {__version__} ({self._remote})"

    @property
    def server(self) -> int | None:
        return self._server.pid if self._server else None

    def prepare(self) -> None:
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # numpy's, which would start threads when it is imported
        try:
            connect.import_client()
        except ImportError as missing:
            raise EngineMissing(MISSING.format(missing.name, sys.executable)) from None
        if not self._remote.startswith(CONNECT):
            self._server = SparkServer.started(self._remote)

    def open(self) -> None:
        connect.warm_up(self.session())

    def session(self) -> Session:
        return SparkSession(self._url())

    def bury(self, session_id: str) -> None:
        session = connect.ConnectSession(self._url(session_id=session_id))
        session.cancel()
        session.settle()
        session.close()

    def close(self) -> None:
        if self._server is not None:
            self._server.close()

    def _url(self, **more: str) -> str:
        base = self._server.url if self._server else self._remote
        told = {"user_id": USER, **more}
        given: list[Any] = [part for part in base.partition("/;")[2].split(";") if part]
        return ";".join([f"{base.partition('/;')[0]}/", *given, *(f"{name}={value}" for name, value in told.items())])


class SparkSession(connect.ConnectSession):
    def define(self, tables: Sequence[LakeTable], s3: Mapping[str, str]) -> None:
        """Buckets by the name that Hadoop has for them, each read with these keys, as options of its own."""
        self._options = _options(s3)
        super().define([replace(table, path=_S3.sub("s3a://", table.path)) for table in tables], s3)


def _options(s3: Mapping[str, str]) -> dict[str, str]:
    endpoint = s3.get("endpoint", "")
    told = {
        "fs.s3a.access.key": s3.get("access_key", ""),
        "fs.s3a.secret.key": s3.get("secret_key", ""),
        "fs.s3a.session.token": s3.get("session_token", ""),
        "fs.s3a.endpoint": endpoint,
        "fs.s3a.endpoint.region": s3.get("region", ""),
        "fs.s3a.path.style.access": "true" if endpoint else "",
    }
    return {name: value for name, value in told.items() if value}


def engine(remote: str) -> Spark:
    return Spark(remote)
