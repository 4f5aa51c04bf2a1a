"""A log store in a bucket, whose objects cannot grow: parts while a log does, one object once it is finished.

    <prefix>2026-11-16/jr_….log                                   the finished log
    <prefix>growing/2026-11-16/jr_….log/00000000000000262144-1000   of one that grows: 1,000 bytes, where they begin

A part says in its name where it begins and how long it is, and is never written with other bytes. So a repeated, late
or doubled write does no harm: parts may overlap, and a reader takes those that reach further. Whoever is killed while
it merges leaves what was there before, or that and more; the next one goes on from either.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from waterclock import clock
from waterclock.domain.errors import Unavailable
from waterclock.domain.log_name import checked_name
from waterclock.domain.moment import SECOND, from_datetime
from waterclock.runners.log_parts import MOST_SMALL, Part, Piece, blocks, end_of, in_line, part_of, small_end
from waterclock.runners.s3_connection import S3Connection

BLOCK_BYTES: Final = 8 * 1024 * 1024  # of a log that is merged: S3 takes no less than 5 MiB at a time
ABANDONED_SECONDS: Final = 3600
_DELETED_AT_ONCE: Final = 1_000
_REMEMBERED: Final = 1_000
_TRIES: Final = 4  # to read a log whose parts are being merged meanwhile
PATIENCE: Final[Mapping[str, object]] = {
    "connect_timeout": 3,
    "read_timeout": 10,
    "retries": {"total_max_attempts": 2, "mode": "standard"},
    "request_checksum_calculation": "when_required",  # servers that are not AWS know no other
    "response_checksum_validation": "when_required",
}
_MISSING: Final = frozenset({"404", "NoSuchKey", "NotFound"})


class S3LogStore:
    """`location` is s3://bucket/prefix."""

    def __init__(self, location: str, *, endpoint: str, region: str) -> None:
        parts = urlsplit(location)
        self._shown = location
        self._bucket = parts.netloc
        self._prefix = f"{unquote(parts.path).strip('/')}/".lstrip("/")
        self._grown: dict[str, Sequence[Part]] = {}  # the parts of logs that we have added to
        self._connection = S3Connection(endpoint=endpoint, region=region, patience=PATIENCE)

    def append(self, name: str, offset: int, data: bytes) -> int:
        with self._connected() as client:
            parts = self._grown.pop(name, None)
            if parts is None or end_of(in_line(parts)) != offset:  # somebody else may have written, too
                parts = self._parts(client, name)
            line = in_line(parts)
            if len(line) < len(parts) or not parts:  # new, or finished: then parts may be gone, or some of them
                finished = self._finished_size(client, name)
                if finished is not None:
                    return finished
            there = end_of(line)
            if there < offset or there >= offset + len(data):
                return there
            self._remember(name, self._add(client, name, parts, line, data[there - offset :]))
            return offset + len(data)

    def put(self, name: str, data: bytes) -> int:
        with self._connected() as client:
            finished = self._finished_size(client, name)
            if finished is None:
                client.put_object(Bucket=self._bucket, Key=self._finished(name), Body=data)
            self._delete(client, [part.key for part in self._grown.pop(name, ())])
            return len(data) if finished is None else finished

    def read(self, name: str, offset: int, limit: int) -> tuple[bytes, int]:
        with self._connected() as client:
            for _ in range(_TRIES):
                if (size := self._finished_size(client, name)) is not None:
                    whole = Piece(key=self._finished(name), part_begin=0, begin=0, end=size)
                    return self._range(client, [whole], offset, limit) or b"", size
                line = in_line(self._parts(client, name))
                if not line and self._finished_size(client, name) is None:
                    return b"", 0
                if (found := self._range(client, line, offset, limit)) is not None:
                    return found, end_of(line)
            raise Unavailable(f"the log {name} is being merged in {self._shown}")

    def size(self, name: str) -> int:
        return self.read(name, 0, 0)[1]

    def finish(self, name: str) -> None:
        self._grown.pop(name, None)
        with self._connected() as client:
            parts = self._parts(client, name)
            # Never again: where some parts are gone already, the others would make a shorter one.
            if self._finished_size(client, name) is None:
                self._merge(client, in_line(parts), self._finished(name))
            self._delete(client, [part.key for part in parts])

    def is_finished(self, name: str) -> bool:
        with self._connected() as client:
            return self._finished_size(client, name) is not None

    def remove(self, names: Iterable[str]) -> None:
        with self._connected() as client:
            gone = {checked_name(name) for name in names}
            growing = self._growing("")
            for folder in sorted({name.rpartition("/")[0] for name in gone}):
                listed = self._listed(client, f"{growing}{folder}/")
                keys = [key for key in listed if key.removeprefix(growing).rpartition("/")[0] in gone]
                self._delete(client, keys)
            self._delete(client, [self._finished(name) for name in sorted(gone)])

    # Keys

    def _finished(self, name: str) -> str:
        return f"{self._prefix}{checked_name(name)}"

    def _growing(self, name: str) -> str:
        return f"{self._prefix}growing/{name}"

    def _parts(self, client: Any, name: str) -> list[Part]:
        folder = f"{self._growing(checked_name(name))}/"
        return [part for key in self._listed(client, folder) if (part := part_of(key, folder))]

    # Calls

    def _add(self, client: Any, name: str, parts: Sequence[Part], line: Sequence[Piece], data: bytes) -> Sequence[Part]:
        """As a part of its own, or together with the small ones before it, where these are many; the parts then."""
        begin, small = end_of(line), small_end(line)
        if len(small) >= MOST_SMALL:
            data = b"".join([self._get(client, piece, piece.begin, piece.end) for piece in small] + [data])
            begin = small[0].begin
        part = Part.named(f"{self._growing(name)}/", begin, len(data))
        client.put_object(Bucket=self._bucket, Key=part.key, Body=data)
        merged = [other for other in parts if other.is_within(part) and other != part]
        self._delete(client, [other.key for other in merged])
        return [*(other for other in parts if other not in merged), part]

    def _remember(self, name: str, parts: Sequence[Part]) -> None:
        """For the next piece: a listing takes longer than all else."""
        self._grown[name] = parts
        while len(self._grown) > _REMEMBERED:
            self._grown.pop(next(iter(self._grown)), None)

    def _merge(self, client: Any, line: Sequence[Piece], key: str) -> None:
        """No more of it in memory than a block; there is no such object before it is whole."""
        pieces = (self._get(client, piece, piece.begin, piece.end) for piece in line)
        cut = blocks(pieces, BLOCK_BYTES)
        first = next(cut, b"")
        if len(first) < BLOCK_BYTES:
            client.put_object(Bucket=self._bucket, Key=key, Body=first)
        else:
            self._upload(client, key, chain([first], cut))

    def _upload(self, client: Any, key: str, pieces: Iterable[bytes]) -> None:
        place = {"Bucket": self._bucket, "Key": key}
        self._abort_abandoned(client, key)
        place["UploadId"] = client.create_multipart_upload(**place)["UploadId"]
        done = []
        for number, data in enumerate(pieces, 1):
            answer = client.upload_part(**place, PartNumber=number, Body=data)
            done.append({"ETag": answer["ETag"], "PartNumber": number})
        client.complete_multipart_upload(**place, MultipartUpload={"Parts": done})

    def _abort_abandoned(self, client: Any, key: str) -> None:
        """Of one that was killed in the middle: nobody sees them, but they take room. A younger one may be at work."""
        for upload in client.list_multipart_uploads(Bucket=self._bucket, Prefix=key).get("Uploads", ()):
            age_seconds = (clock.wall_us() - from_datetime(upload["Initiated"])) / SECOND
            if upload["Key"] == key and age_seconds > ABANDONED_SECONDS:
                client.abort_multipart_upload(Bucket=self._bucket, Key=key, UploadId=upload["UploadId"])

    def _range(self, client: Any, line: Sequence[Piece], offset: int, limit: int) -> bytes | None:
        """None where a part was merged away after it was listed."""
        wanted = [(piece, max(piece.begin, offset), min(piece.end, offset + limit)) for piece in line]
        try:
            return b"".join(self._get(client, piece, begin, end) for piece, begin, end in wanted if begin < end)
        except client.exceptions.NoSuchKey:
            return None

    def _get(self, client: Any, piece: Piece, begin: int, end: int) -> bytes:
        first, last = begin - piece.part_begin, end - piece.part_begin - 1
        answer = client.get_object(Bucket=self._bucket, Key=piece.key, Range=f"bytes={first}-{last}")
        return bytes(answer["Body"].read())

    def _finished_size(self, client: Any, name: str) -> int | None:
        import botocore.exceptions

        try:
            return int(client.head_object(Bucket=self._bucket, Key=self._finished(name))["ContentLength"])
        except botocore.exceptions.ClientError as problem:
            if problem.response.get("Error", {}).get("Code") in _MISSING:
                return None
            raise

    def _listed(self, client: Any, prefix: str) -> Iterator[str]:
        for page in client.get_paginator("list_objects_v2").paginate(Bucket=self._bucket, Prefix=prefix):
            yield from (each["Key"] for each in page.get("Contents", ()))

    def _delete(self, client: Any, keys: Sequence[str]) -> None:
        for first in range(0, len(keys), _DELETED_AT_ONCE):
            objects = [{"Key": key} for key in keys[first : first + _DELETED_AT_ONCE]]
            client.delete_objects(Bucket=self._bucket, Delete={"Objects": objects, "Quiet": True})

    @contextmanager
    def _connected(self) -> Iterator[Any]:
        import botocore.exceptions

        try:
            yield self._connection.client()
        except (botocore.exceptions.BotoCoreError, botocore.exceptions.ClientError) as problem:
            self._connection.renew()
            raise Unavailable(f"the log store {self._shown} (setting logs.store): {problem}") from problem
