"""The file systems that results are written to, as the tests read them."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.services.hdfs import HdfsServer
from tests.services.s3 import S3Server


class Files:
    """A file system of the tests: `uri` and `order` are what an output of it needs."""

    uri: str
    order: Mapping[str, object]

    def read(self, path: str) -> bytes:
        raise NotImplementedError

    def list(self, path: str) -> Sequence[str]:
        """The names in the folder, hidden ones too; none where there is no folder."""
        raise NotImplementedError

    def parts(self, path: str) -> dict[str, bytes]:
        """What a reader finds there."""
        return {name: self.read(f"{path}/{name}") for name in self.list(path) if not name.startswith(("_", "."))}


class LocalFiles(Files):
    uri = "file:///"

    def __init__(self, root: Path) -> None:
        self._root = root
        self.order = {"roots": [str(root)]}

    def read(self, path: str) -> bytes:
        return Path(path).read_bytes()

    def list(self, path: str) -> Sequence[str]:
        return sorted(each.name for each in Path(path).iterdir()) if Path(path).exists() else []


class HdfsFiles(Files):
    order: Mapping[str, object] = {}

    def __init__(self, server: HdfsServer) -> None:
        self._server = server
        self.uri = server.host_port  # as the seed has it

    def read(self, path: str) -> bytes:
        return self._server.read(path)

    def list(self, path: str) -> Sequence[str]:
        try:
            return self._server.list(path)
        except FileNotFoundError:
            return []


class S3Files(Files):
    def __init__(self, server: S3Server, bucket: str) -> None:
        self.client = server.client()
        self.client.create_bucket(Bucket=bucket)
        self.bucket, self.uri = bucket, f"s3://{bucket}"
        keys = {"access_key": server.access_key, "secret_key": server.secret_key}
        self.order = {"s3": {"endpoint": server.endpoint_url, "region": server.region, **keys}}

    def read(self, path: str) -> bytes:
        return bytes(self.client.get_object(Bucket=self.bucket, Key=path.lstrip("/"))["Body"].read())

    def list(self, path: str) -> Sequence[str]:
        prefix = f"{path.lstrip('/')}/"
        found = self.client.list_objects_v2(Bucket=self.bucket, Prefix=prefix, Delimiter="/")
        names = [each["Key"] for each in found.get("Contents", [])] + [
            each["Prefix"] for each in found.get("CommonPrefixes", [])
        ]
        return sorted(name.removeprefix(prefix).rstrip("/") for name in names if name != prefix)

    def uploads(self) -> Sequence[str]:
        return [each["Key"] for each in self.client.list_multipart_uploads(Bucket=self.bucket).get("Uploads", [])]
