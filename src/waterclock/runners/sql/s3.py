"""Results in a bucket, where nothing can be renamed, but an object appears as a whole or not at all.

    <result_path>/part-00000.csv    the result; written over by the next one, so that a reader sees the old or the new
    <result_path>/_SUCCESS
    <result_path>/.waterclock-7-12-new-part-00000.csv   while a large one is loaded: which upload it is, for a sweep

Other parts that stand there (of Spark, of another format, or added ones) are deleted after the new one is there: only
then a reader that lists may see both, and `_SUCCESS` is away for that time. What is to be kept is copied before, by
the server itself (s3_kept.py).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from waterclock.runners.s3_connection import S3Connection
from waterclock.runners.sql.aside import Aside, Stage, prefix
from waterclock.runners.sql.folder import DONE, Mode, Sink, check_replaceable, part_name
from waterclock.runners.sql.how import How
from waterclock.runners.sql.outputs import OutputFailed, Tag
from waterclock.runners.sql.places import Place
from waterclock.runners.sql.s3_kept import KeptObjects

PIECE_BYTES: Final = 8 * 1024 * 1024  # S3 takes no less than 5 MiB at a time, and no more than 10,000 pieces
_PIECES_OF_A_SIZE: Final = 1_000  # then they grow: 440 GB in all
_DELETED_AT_ONCE: Final = 1_000
_PATIENCE: Final[Mapping[str, object]] = {
    "connect_timeout": 5,
    "read_timeout": 60,
    "retries": {"total_max_attempts": 3, "mode": "standard"},
    "request_checksum_calculation": "when_required",  # servers that are not AWS know no other
    "response_checksum_validation": "when_required",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Object:
    name: str
    written_at: datetime


class S3Folder:
    def __init__(self, place: Place, *, how: How, tag: Tag, account: Mapping[str, str]) -> None:
        self.where = str(place)
        self._bucket, self._prefix = place.bucket, f"{'/'.join(place.parts)}/"
        self._beside = "".join(f"{part}/" for part in place.parts[:-1])
        self._name = place.name
        self._mode, self._tag, self._keep_hours = how.mode, tag, how.keep_hours
        self._connection = S3Connection(
            endpoint=account.get("endpoint", ""),
            region=account.get("region", "") or "us-east-1",
            patience=_PATIENCE,
            keys=account,
        )
        self._part = ""
        self._upload: _Upload | None = None
        self._is_down = False  # the word that the result is whole was taken away

    def sweep(self) -> None:
        """An upload that was not ended is seen by nobody, and takes room for ever."""
        with self._connected() as client:
            there = [Aside.read(each.name) for each in self._listed(client, prefix(self._tag))]
            for left in there:
                if left is not None and left.is_left_for(self._tag, left.of):  # no other output writes below this one
                    self._end_upload(client, left)
            self._kept(client).sweep()

    def create(self, ending: str) -> Sink:
        self._part = part_name(self._mode, self._tag, ending)
        with self._connected() as client:
            if self._mode is Mode.REPLACE:
                check_replaceable(self.where, {each.name.partition("/")[0] for each in self._listed(client)})
        self._upload = _Upload(connected=self._connected, place=self._place(self._part), begun=self._mark)
        return self._upload

    def parts(self) -> Iterator[tuple[str, Iterator[bytes]]]:
        with self._connected() as client:
            names = [each.name for each in self._listed(client)]
            for name in names:
                if not name.startswith((".", "_")):
                    yield name, client.get_object(**self._place(name))["Body"].iter_chunks(PIECE_BYTES)

    def commit(self) -> None:
        assert self._upload is not None, "nothing was written"
        with self._connected() as client:
            before = self._others(client)
            if self._mode is Mode.REPLACE and self._keep_hours:
                self._keep(client)
            if before:
                self._is_down = True
                client.delete_object(**self._place(DONE))
            self._upload.put_in_place(client)
            self._delete(client, before)
            self._delete(client, self._overtaken(client))
            client.put_object(**self._place(DONE), Body=b"")
            client.delete_object(**self._place(str(self._aside)))

    def abort(self) -> None:
        if self._upload is None:
            return
        with self._connected() as client:
            self._upload.abort(client)
            client.delete_object(**self._place(str(self._aside)))
            if self._is_down:
                client.put_object(**self._place(DONE), Body=b"")

    @property
    def _aside(self) -> Aside:
        return Aside(tag=self._tag, stage=Stage.NEW, of=self._part)

    def _place(self, name: str) -> dict[str, Any]:
        return {"Bucket": self._bucket, "Key": f"{self._prefix}{name}"}

    def _mark(self, client: Any, upload_id: str) -> None:
        """Before its first piece: whoever is killed in between leaves an upload that is empty."""
        client.put_object(**self._place(str(self._aside)), Body=upload_id.encode())

    def _keep(self, client: Any) -> None:
        there = [each.name for each in self._listed(client) if Aside.read(each.name) is None and each.name != DONE]
        if there:
            self._kept(client).keep(there, hours=self._keep_hours)

    def _kept(self, client: Any) -> KeptObjects:
        return KeptObjects(client, bucket=self._bucket, beside=self._beside, name=self._name, tag=self._tag)

    def _end_upload(self, client: Any, left: Aside) -> None:
        mark = self._place(str(left))
        with suppress(client.exceptions.NoSuchKey):
            upload_id = client.get_object(**mark)["Body"].read().decode()
            with suppress(client.exceptions.NoSuchUpload):
                client.abort_multipart_upload(**self._place(left.of), UploadId=upload_id)
        client.delete_object(**mark)

    def _others(self, client: Any) -> list[str]:
        """What the new part replaces."""
        if self._mode is Mode.APPEND:
            return []
        names = [each.name for each in self._listed(client)]
        return [name for name in names if name not in (self._part, DONE) and Aside.read(name) is None]

    def _overtaken(self, client: Any) -> list[str]:
        """Parts of another format that another job put there at the same moment: all agree on which was the last."""
        if self._mode is Mode.APPEND:
            return []
        parts = {each.name: (each.written_at, each.name) for each in self._listed(client, "part-00000.")}
        ours = parts.get(self._part)
        return [name for name, written in parts.items() if ours is not None and written < ours]

    def _listed(self, client: Any, begin: str = "") -> Iterator[_Object]:
        asked = {"Bucket": self._bucket, "Prefix": f"{self._prefix}{begin}"}
        for page in client.get_paginator("list_objects_v2").paginate(**asked):
            for each in page.get("Contents", ()):
                if name := each["Key"].removeprefix(self._prefix):  # some tools keep an object for the folder itself
                    yield _Object(name=name, written_at=each["LastModified"])

    def _delete(self, client: Any, names: Sequence[str]) -> None:
        for first in range(0, len(names), _DELETED_AT_ONCE):
            objects = [{"Key": f"{self._prefix}{name}"} for name in names[first : first + _DELETED_AT_ONCE]]
            answer = client.delete_objects(Bucket=self._bucket, Delete={"Objects": objects, "Quiet": True})
            for wrong in answer.get("Errors", ()):
                raise OutputFailed(f"{self.where}: cannot delete {wrong.get('Key')}: {wrong.get('Message')}")

    @contextmanager
    def _connected(self) -> Iterator[Any]:
        import botocore.exceptions

        try:
            yield self._connection.client()
        except (botocore.exceptions.BotoCoreError, botocore.exceptions.ClientError) as problem:
            self._connection.renew()
            raise OutputFailed(f"{self.where}: {problem}") from None


class _Upload:
    """The part while it is written: in memory while it is small, else in pieces that nobody sees."""

    def __init__(
        self, *, connected: Callable[[], Any], place: Mapping[str, Any], begun: Callable[[Any, str], None]
    ) -> None:
        self._connected, self._place, self._begun = connected, place, begun
        self._waiting = bytearray()
        self._id = ""
        self._done: list[dict[str, Any]] = []

    def write(self, data: bytes) -> None:
        self._waiting += data
        while len(self._waiting) >= (size := self._piece_bytes()):
            piece = bytes(self._waiting[:size])
            del self._waiting[:size]
            with self._connected() as client:
                self._send(client, piece)

    def close(self) -> None:
        """It is stored when it is put in its place: until then its last piece may be its only one."""

    def put_in_place(self, client: Any) -> None:
        if not self._id:
            client.put_object(**self._place, Body=bytes(self._waiting))
            return
        if self._waiting:
            self._send(client, bytes(self._waiting))
        client.complete_multipart_upload(**self._place, UploadId=self._id, MultipartUpload={"Parts": self._done})

    def abort(self, client: Any) -> None:
        if self._id:
            with suppress(client.exceptions.NoSuchUpload):
                client.abort_multipart_upload(**self._place, UploadId=self._id)

    def _send(self, client: Any, piece: bytes) -> None:
        if not self._id:
            self._id = client.create_multipart_upload(**self._place)["UploadId"]
            self._begun(client, self._id)
        number = len(self._done) + 1
        answer = client.upload_part(**self._place, UploadId=self._id, PartNumber=number, Body=piece)
        self._done.append({"ETag": answer["ETag"], "PartNumber": number})

    def _piece_bytes(self) -> int:
        return PIECE_BYTES * (1 + len(self._done) // _PIECES_OF_A_SIZE)
