"""An output that is a folder: rows in a format, in a file system."""

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Protocol

from waterclock.runners.sql.folder import Folder, Sink
from waterclock.runners.sql.outputs import OutputFailed, Written, said_of

if TYPE_CHECKING:
    import pyarrow as pa


class Format(Protocol):
    """Of one file, from its first byte to its last."""

    def write(self, batch: "pa.RecordBatch") -> None: ...

    def finish(self) -> None:
        """The last bytes; the sink is closed by whoever opened it."""
        ...


Formats = Callable[[Sink, "pa.Schema"], Format]


class FileOutput:
    def __init__(self, folder: Folder, formats: Formats, *, ending: str) -> None:
        self._folder, self._formats, self._ending = folder, formats, ending
        self._sink: _CountedSink | None = None
        self._format: Format | None = None
        self._rows = 0

    @property
    def where(self) -> str:
        return self._folder.where

    def sweep(self) -> None:
        self._folder.sweep()

    def open(self, schema: "pa.Schema") -> None:
        self._sink = _CountedSink(self._folder.create(self._ending))
        with said_of(self.where):
            self._format = self._formats(self._sink, schema)

    def write(self, batch: "pa.RecordBatch") -> None:
        assert self._format is not None, "it is not open"
        with said_of(self.where):
            self._format.write(batch)
        self._rows += batch.num_rows

    def commit(self) -> Written:
        assert self._format is not None, "it is not open"
        assert self._sink is not None
        self._format.finish()
        self._sink.close()
        self._folder.commit()
        return Written(rows=self._rows, bytes=self._sink.bytes)

    def abort(self) -> None:
        if self._sink is not None:
            with suppress(OutputFailed):  # it is removed in any case
                self._sink.close()
        self._folder.abort()


class _CountedSink:
    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._is_open = True
        self.bytes = 0

    def write(self, data: bytes) -> None:
        self._sink.write(data)
        self.bytes += len(data)

    def close(self) -> None:
        if self._is_open:
            self._is_open = False
            self._sink.close()
