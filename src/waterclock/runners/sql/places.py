"""Where a result is to lie: `hdfs_uri` and `result_path`, read into one place, or refused with the reason."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final
from urllib.parse import SplitResult, unquote, urlsplit

from waterclock.runners.sql.outputs import OutputFailed

HDFS_PORT: Final = 8020  # Hadoop's own default


class Scheme(StrEnum):
    HDFS = "hdfs"
    FILE = "file"
    S3 = "s3"


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A folder: `parts` are the names that lead to it, the last one its own."""

    scheme: Scheme
    parts: tuple[str, ...]
    host: str = ""  # of HDFS
    port: int | None = None
    bucket: str = ""  # of S3

    @property
    def name(self) -> str:
        return self.parts[-1]

    @property
    def path(self) -> str:
        return f"/{'/'.join(self.parts)}"

    @property
    def parent(self) -> str:
        return f"/{'/'.join(self.parts[:-1])}"

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        port = f":{self.port}" if self.port else ""
        return f"{self.scheme}://{self.bucket}{host}{port}{self.path}"  # no place has both

    def is_within(self, other: "Place") -> bool:
        """Also where both are one."""
        mine, its = ((each.scheme, each.host, each.port, each.bucket) for each in (self, other))
        return mine == its and self.parts[: len(other.parts)] == other.parts


def place_of(uri: str, path: str) -> Place:
    """`localhost:9000`, `hdfs://host:9000/base`, `file:///`, `s3://bucket/base`; the path lies below the uri's own."""
    if not (uri := uri.strip()):
        raise OutputFailed("hdfs_uri is empty: give host:port, hdfs://host:port, file:/// or s3://bucket")
    split = _split(uri if "://" in uri else f"hdfs://{uri}", shown=uri)
    parts = (*_parts(unquote(split.path), uri), *_parts(path, path))
    if not _parts(path, path):
        raise OutputFailed(f"result_path {path!r} names no folder: give one such as /data/abc")
    match scheme := _scheme(split.scheme, uri):
        case Scheme.HDFS:
            return Place(scheme=scheme, parts=parts, host=_host(split.hostname, uri), port=_port(split.port, uri))
        case Scheme.FILE:
            return Place(scheme=scheme, parts=parts) if _is_here(split.netloc) else _elsewhere(uri)
        case Scheme.S3:
            return Place(scheme=scheme, parts=parts, bucket=_host(split.netloc, uri))


def _split(uri: str, *, shown: str) -> SplitResult:
    if _has_control(uri):  # urlsplit takes some of them out without a word
        raise OutputFailed(f"hdfs_uri {shown!r} holds a control character")
    try:
        found = urlsplit(uri)
        _ = found.port  # which is read only now, and may be none
    except ValueError as problem:
        raise OutputFailed(f"hdfs_uri {shown!r} cannot be read: {problem}") from None
    if found.username is not None or found.password is not None:
        raise OutputFailed("hdfs_uri may not hold a user or a password")
    if found.query or found.fragment:
        raise OutputFailed(f"hdfs_uri {shown!r} may not hold a query or a fragment")
    return found


def _scheme(scheme: str, uri: str) -> Scheme:
    try:
        return Scheme(scheme)
    except ValueError:
        raise OutputFailed(f"hdfs_uri {uri!r} names the scheme {scheme!r}: hdfs, file and s3 are known") from None


def _parts(path: str, shown: str) -> tuple[str, ...]:
    """None of them leads up, and none can be taken for something that is not in its place yet."""
    parts = tuple(part for part in path.split("/") if part not in ("", "."))
    if _has_control(path):
        raise OutputFailed(f"the path {shown!r} holds a control character")
    if ".." in parts:
        raise OutputFailed(f"the path {shown!r} may not hold ..")
    if wrong := next((part for part in parts if part.startswith(".waterclock-")), None):
        raise OutputFailed(f"the path {shown!r} holds {wrong!r}, a name that is kept for results that are being loaded")
    return parts


def _has_control(text: str) -> bool:
    return any(ord(letter) < 0x20 or letter == "\x7f" for letter in text)


def _host(host: str | None, uri: str) -> str:
    if not host:
        raise OutputFailed(f"hdfs_uri {uri!r} names no host or bucket: give host:port, hdfs://host:port or s3://bucket")
    return host


def _port(port: int | None, uri: str) -> int | None:
    if port == 0:
        raise OutputFailed(f"hdfs_uri {uri!r} names the port 0")
    return port


def _is_here(netloc: str) -> bool:
    return netloc in ("", "localhost")


def _elsewhere(uri: str) -> Place:
    raise OutputFailed(f"hdfs_uri {uri!r}: file:// means this machine, so it names no host (file:///data)")
