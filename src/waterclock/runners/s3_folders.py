"""A root of programs in a bucket: what stands below a prefix, listed and fetched for every run."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final, Protocol, TypedDict
from urllib.parse import unquote, urlsplit

from waterclock.domain.errors import CannotRun
from waterclock.runners.copying import CHUNK_BYTES, Copy
from waterclock.runners.folders import missing_folder, missing_script
from waterclock.runners.s3_connection import S3Connection

_MODE: Final = 0o755  # a bucket knows none, and a script may call the one beside it


class Listed(TypedDict):
    Key: str
    Size: int


class _Body(Protocol):
    def iter_chunks(self, size: int) -> Iterator[bytes]: ...


class _Pages(Protocol):
    def paginate(self, **asked: str) -> Iterable[Mapping[str, Sequence[Listed]]]: ...


class _Client(Protocol):
    def get_paginator(self, operation: str) -> _Pages: ...

    def get_object(self, **asked: str) -> Mapping[str, _Body]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Object:
    key: str
    name: str  # relative to the script's folder
    size: int


class S3Root:
    """`location` is s3://bucket/prefix."""

    def __init__(self, location: str, *, setting: str, endpoint: str, region: str) -> None:
        parts = urlsplit(location)
        self._shown = f"{location} (setting {setting})"
        self._bucket = parts.netloc
        self._prefix = f"{unquote(parts.path).strip('/')}/".lstrip("/")
        self._connection = S3Connection(endpoint=endpoint, region=region)

    def copy(self, script: PurePosixPath, to: Copy) -> None:
        import botocore.exceptions

        try:
            client: _Client = self._connection.client()
            self._fetch(client, self._listed(client, script, to), to)
        except (botocore.exceptions.BotoCoreError, botocore.exceptions.ClientError) as problem:
            self._connection.renew()
            raise CannotRun(f"cannot copy the folder {str(script.parent)!r} below {self}: {problem}") from None
        except OSError as problem:
            raise CannotRun(f"cannot write the copy of the folder {str(script.parent)!r}: {problem}") from None

    def __str__(self) -> str:
        return self._shown

    def _listed(self, client: _Client, script: PurePosixPath, to: Copy) -> list[Object]:
        """All of it is known to fit before any of it is fetched."""
        is_in_root = script.parent == PurePosixPath()
        prefix = self._prefix if is_in_root else f"{self._prefix}{script.parent}/"
        asked = {"Bucket": self._bucket, "Prefix": prefix} | ({"Delimiter": "/"} if is_in_root else {})
        found: list[Object] = []
        for page in client.get_paginator("list_objects_v2").paginate(**asked):
            found += [object_of(each, prefix) for each in page.get("Contents", ()) if not each["Key"].endswith("/")]
            to.check(entries=len(found), size=sum(each.size for each in found))
        if not found:
            raise missing_script(script, self) if is_in_root else missing_folder(script, self)
        if script.name not in {each.name for each in found}:
            raise missing_script(script, self)
        return found

    def _fetch(self, client: _Client, found: Sequence[Object], to: Copy) -> None:
        made: set[PurePosixPath] = {PurePosixPath()}
        for each in found:
            for folder in reversed(PurePosixPath(each.name).parents):
                if folder not in made:
                    to.add_folder(str(folder))
                    made.add(folder)
            body = client.get_object(Bucket=self._bucket, Key=each.key)["Body"]
            to.add_file(each.name, body.iter_chunks(CHUNK_BYTES), mode=_MODE)


def object_of(listed: Listed, prefix: str) -> Object:
    name = listed["Key"][len(prefix) :]
    if any(part in ("", ".", "..") or "\0" in part for part in name.split("/")):
        raise CannotRun(f"the key {listed['Key']!r} cannot be the name of a file")
    return Object(key=listed["Key"], name=name, size=listed["Size"])
