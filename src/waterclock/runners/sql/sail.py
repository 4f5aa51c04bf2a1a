"""Sail: Spark's SQL without a JVM, in the executor's own process; its server listens on loopback for us alone."""

import os
import sys
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any, Final

from waterclock.domain.lake import LakeTable
from waterclock.runners.sql import connect
from waterclock.runners.sql.engine import EngineMissing, Session

MISSING: Final = (
    "{} is not installed in {}: pip install 'waterclock[sail]' there, or name the interpreter that has it in the "
    "setting sql.python"
)


class Sail:
    dies_with_its_process = True
    server: int | None = None

    def __init__(self) -> None:
        self._server: Any = None
        self._url = ""

    @property
    def title(self) -> str:
        return f"Sail {version('pysail')}"

    def prepare(self) -> None:
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # numpy's, which would start threads when it is imported
        os.environ.setdefault("RUST_LOG", "warn")
        try:
            import pysail.spark  # noqa: F401

            connect.import_client()
        except ImportError as missing:
            raise EngineMissing(MISSING.format(missing.name, sys.executable)) from None

    def open(self) -> None:
        from pysail.spark import SparkConnectServer

        self._server = SparkConnectServer("127.0.0.1", 0)
        self._server.start(background=True)
        _, port = self._server.listening_address
        self._url = f"sc://127.0.0.1:{port}"
        connect.warm_up(self.session())

    def session(self) -> Session:
        return SailSession(self._url)

    def bury(self, session_id: str) -> None:
        """It died with its process."""

    def close(self) -> None:
        pass


class SailSession(connect.ConnectSession):
    def define(self, tables: Sequence[LakeTable], s3: Mapping[str, str]) -> None:
        """It reads buckets as the environment says: this process serves one set of keys and no other."""
        if s3:
            os.environ.update(_environment(s3))
        super().define(tables, s3)


def _environment(s3: Mapping[str, str]) -> dict[str, str]:
    """Under the names that Sail's two clients of S3 have for them."""
    endpoint = s3.get("endpoint", "")
    told = {
        "AWS_ACCESS_KEY_ID": s3.get("access_key", ""),
        "AWS_SECRET_ACCESS_KEY": s3.get("secret_key", ""),
        "AWS_SESSION_TOKEN": s3.get("session_token", ""),
        "AWS_REGION": s3.get("region", ""),
        "AWS_ENDPOINT": endpoint,
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_ALLOW_HTTP": "true" if endpoint.startswith("http://") else "",
        "AWS_SKIP_SIGNATURE": "" if s3.get("access_key") else "true",
        "AWS_EC2_METADATA_DISABLED": "true",  # the order has all the keys that there are
    }
    return {name: value for name, value in told.items() if value}


def engine(remote: str) -> Sail:
    """It is nowhere but here."""
    return Sail()
