"""Files in a bucket. Whose keys they are read with:

- `access_key` and `secret_key` of the source, at its `endpoint` or AWS;
- with an `endpoint` but no keys nobody's: the worker's own are shown to no server that a user names;
- with neither, the worker's own, at the endpoint of its settings.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any, BinaryIO, Final

from waterclock.reachable import public_only
from waterclock.runners.s3_connection import S3Connection
from waterclock.runners.sync.places.globs import glob_of
from waterclock.runners.sync.places.place import CHUNK_BYTES, Found, Stream
from waterclock.runners.sync.service.wire import ALLOWED_BY
from waterclock.runners.sync.source import Means, SourceFailed

_PATIENCE: Final[Mapping[str, object]] = {
    "connect_timeout": 5,
    "read_timeout": 60,
    "retries": {"total_max_attempts": 3, "mode": "standard"},
    "request_checksum_calculation": "when_required",  # servers that are not AWS know no other
    "response_checksum_validation": "when_required",
}
_CHANGED: Final = frozenset({"PreconditionFailed", "412", "NoSuchKey"})


class S3Place:
    is_listed = True

    def __init__(self, config: Mapping[str, Any], means: Means) -> None:
        self._bucket = str(config.get("bucket") or "")
        self.where = f"s3://{self._bucket}"
        has_keys, endpoint = bool(config.get("access_key")), str(config.get("endpoint") or "")
        self._is_ours = not has_keys and not endpoint
        account = means.s3 if self._is_ours else {"endpoint": endpoint, **_keys(config)}
        self._is_checked = not means.allows_private and not self._is_ours  # the worker's own endpoint is the admin's
        self._connection = S3Connection(
            endpoint=account.get("endpoint", ""),
            region=str(config.get("region") or means.s3.get("region") or "us-east-1"),
            patience=_PATIENCE if has_keys or self._is_ours else _unsigned(),
            keys=account,
        )

    def test(self) -> str:
        with self._connected() as client:
            found = client.list_objects_v2(Bucket=self._bucket, MaxKeys=1)
        return f"{self.where} answered: {'there are objects' if found.get('Contents') else 'it is empty'}"

    def find(self, pattern: str, *, most: int | None = None) -> Sequence[Found]:
        glob = glob_of(pattern)
        with self._connected() as client:
            pages = client.get_paginator("list_objects_v2").paginate(Bucket=self._bucket, Prefix=glob.prefix)
            objects = (each for page in pages for each in page.get("Contents", ()))
            named = (each for each in objects if not each["Key"].endswith("/"))  # some tools keep one for a folder
            matching = (_found(each) for each in named if glob.matches(each["Key"]))
            return sorted(islice(matching, most), key=lambda found: found.name)

    def open(self, found: Found) -> Stream:
        with self._connected(found.name) as client:
            asked = {"Bucket": self._bucket, "Key": found.name, "IfMatch": f'"{found.version}"'}
            return _S3Stream(client.get_object(**asked)["Body"], self, found)

    def close(self) -> None: ...

    @contextmanager
    def _connected(self, name: str = "") -> Iterator[Any]:
        import botocore.exceptions

        where = f"{self.where}/{name}" if name else self.where
        with public_only(unless=not self._is_checked) as refused:
            try:
                yield self._connection.client()
            except botocore.exceptions.ClientError as problem:
                if name and problem.response.get("Error", {}).get("Code") in _CHANGED:
                    raise SourceFailed(f"{where} was changed or deleted while it was read") from None
                raise SourceFailed(f"{where}: {problem}") from None
            except (botocore.exceptions.BotoCoreError, OSError) as problem:
                if refused:
                    raise SourceFailed(f"{where}: {refused[-1]} is not a public address; {ALLOWED_BY}") from None
                raise SourceFailed(f"{where}: {problem}") from None


class _S3Stream:
    def __init__(self, body: Any, place: S3Place, found: Found) -> None:
        self._body, self._where, self._found = body, f"{place.where}/{found.name}", found
        self._read = 0

    def read(self, size: int = CHUNK_BYTES) -> bytes:
        import botocore.exceptions
        import urllib3.exceptions

        try:
            data = bytes(self._body.read(size))  # which says when it was cut
        except (botocore.exceptions.BotoCoreError, urllib3.exceptions.HTTPError, OSError):
            raise SourceFailed(
                f"{self._where}: the connection was cut after {self._read} of {self._found.size} bytes"
            ) from None
        self._read += len(data)
        return data

    def file(self) -> BinaryIO | None:
        return None

    def check(self) -> None: ...  # an answer is one version

    def close(self) -> None:
        self._body.close()


def _found(each: Mapping[str, Any]) -> Found:
    return Found(name=each["Key"], version=str(each["ETag"]).strip('"'), size=int(each["Size"]))


def _keys(config: Mapping[str, Any]) -> Mapping[str, str]:
    """Where there are none, something in their place: else botocore would look for the worker's."""
    return {key: str(config.get(key) or "-") for key in ("access_key", "secret_key")}


def _unsigned() -> Mapping[str, object]:
    import botocore

    return {**_PATIENCE, "signature_version": botocore.UNSIGNED}
