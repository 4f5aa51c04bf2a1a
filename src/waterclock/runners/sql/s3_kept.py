"""What a result in a bucket has replaced, beside it for some hours: copied by the server, for nothing can be renamed.

<beside>/.waterclock-old-7-12-202611170930-abc/part-00000.csv, and `_SUCCESS` once all of it is there
"""

from collections.abc import Sequence
from typing import Any, Final

from waterclock import clock
from waterclock.runners.sql import kept
from waterclock.runners.sql.folder import DONE
from waterclock.runners.sql.outputs import Tag

_COPIED_AT_ONCE: Final = 5 * 1024**3  # more than that only in pieces
_PIECE_BYTES: Final = 1024**3


class KeptObjects:
    """`beside`: the folder that the result's folder `name` stands in, with its slash."""

    def __init__(self, client: Any, *, bucket: str, beside: str, name: str, tag: Tag) -> None:
        self._client, self._bucket, self._beside = client, bucket, beside
        self._name, self._tag = name, tag

    def keep(self, names: Sequence[str], *, hours: float) -> None:
        folder = kept.kept(self._tag, self._name, hours=hours, wall_us=clock.wall_us())
        for name in names:
            self._copy(f"{self._beside}{self._name}/{name}", f"{self._beside}{folder}/{name}")
        self._client.put_object(Bucket=self._bucket, Key=f"{self._beside}{folder}/{DONE}", Body=b"")
        self._remove(kept.too_many(self._folders(), self._tag, self._name))

    def sweep(self) -> None:
        self._remove(kept.due(self._folders(), wall_us=clock.wall_us()))

    def _folders(self) -> list[str]:
        asked = {"Bucket": self._bucket, "Prefix": f"{self._beside}{kept.PREFIX}", "Delimiter": "/"}
        pages = self._client.get_paginator("list_objects_v2").paginate(**asked)
        found = [each["Prefix"] for page in pages for each in page.get("CommonPrefixes", ())]
        return [prefix.removeprefix(self._beside).rstrip("/") for prefix in found]

    def _remove(self, folders: Sequence[str]) -> None:
        for folder in folders:
            asked = {"Bucket": self._bucket, "Prefix": f"{self._beside}{folder}/"}
            for page in self._client.get_paginator("list_objects_v2").paginate(**asked):
                for each in page.get("Contents", ()):
                    self._client.delete_object(Bucket=self._bucket, Key=each["Key"])
            self._client.delete_object(Bucket=self._bucket, Key=f"{self._beside}{folder}/")  # some have folders, too

    def _copy(self, key: str, to: str) -> None:
        source = {"Bucket": self._bucket, "Key": key}
        size = self._client.head_object(**source)["ContentLength"]
        if size <= _COPIED_AT_ONCE:
            self._client.copy_object(Bucket=self._bucket, Key=to, CopySource=source)
            return
        place = {"Bucket": self._bucket, "Key": to}
        upload = {**place, "UploadId": self._client.create_multipart_upload(**place)["UploadId"]}
        done = []
        for number, first in enumerate(range(0, size, _PIECE_BYTES), 1):
            span = f"bytes={first}-{min(first + _PIECE_BYTES, size) - 1}"
            answer = self._client.upload_part_copy(**upload, PartNumber=number, CopySource=source, CopySourceRange=span)
            done.append({"ETag": answer["CopyPartResult"]["ETag"], "PartNumber": number})
        self._client.complete_multipart_upload(**upload, MultipartUpload={"Parts": done})
