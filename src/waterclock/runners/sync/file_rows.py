"""The rows of many files as those of one: file after file, in one schema, each whole or refused."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Any

from waterclock.runners.sync.formats.format import BadLines, File, Format
from waterclock.runners.sync.places.place import Found, Place

if TYPE_CHECKING:
    import pyarrow as pa


class FileRows:
    total = None  # a file knows its bytes, not its rows

    def __init__(
        self,
        place: Place,
        format: Callable[[], Format],
        files: Sequence[Found],
        *,
        schema: "pa.Schema",
        bad: BadLines,
        batch_rows: int,
        most_rows: int | None = None,
        bookmark: Callable[[], Mapping[str, Any] | None],
    ) -> None:
        self._place, self._format, self._files = place, format, files
        self._schema, self._bad, self._bookmark = schema, bad, bookmark
        self._batch_rows, self._most_rows = batch_rows, most_rows

    @property
    def schema(self) -> "pa.Schema":
        return self._schema

    @property
    def bad_lines(self) -> int:
        """How many were left out, so far."""
        return self._bad.count

    def batches(self) -> Iterator["pa.RecordBatch"]:
        left = self._most_rows
        for batch in self._all():
            for first in range(0, batch.num_rows, self._batch_rows):
                part = batch.slice(first, self._batch_rows)
                if left is not None:
                    part, left = part.slice(0, left), left - min(left, part.num_rows)
                yield part
                if left == 0:
                    return

    def bookmark(self) -> Mapping[str, Any] | None:
        return self._bookmark()

    def close(self) -> None:
        self._place.close()

    def _all(self) -> Iterator["pa.RecordBatch"]:
        for found in self._files:
            with closing(self._place.open(found)) as stream:
                yield from self._format().batches(File(name=found.name, stream=stream), self._schema, self._bad)
