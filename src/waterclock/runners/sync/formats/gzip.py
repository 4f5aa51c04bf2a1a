"""Files that are compressed by gzip, as their first two bytes say: read as what they hold."""

import zlib
from typing import BinaryIO, Final

from waterclock.runners.sync.places.place import CHUNK_BYTES, Stream
from waterclock.runners.sync.source import SourceFailed

_MAGIC: Final = b"\x1f\x8b"
_GZIP: Final = 31  # zlib's word for it


def unpacked(stream: Stream, name: str) -> Stream:
    """The stream itself where it is not compressed."""
    head = b""
    while len(head) < len(_MAGIC) and (more := stream.read()):
        head += more
    again = _Again(stream, head)
    return _Unpacked(again, name) if head.startswith(_MAGIC) else again


class _Again:
    """A stream whose beginning was looked at."""

    def __init__(self, stream: Stream, head: bytes) -> None:
        self._stream, self._head = stream, head

    def read(self, size: int = CHUNK_BYTES) -> bytes:
        if not self._head:
            return self._stream.read(size)
        data, self._head = self._head[:size], self._head[size:]
        return data

    def file(self) -> BinaryIO | None:
        return self._stream.file()

    def check(self) -> None:
        self._stream.check()

    def close(self) -> None:
        self._stream.close()


class _Unpacked:
    """No more of it is in memory than was asked for, whatever it grows to."""

    def __init__(self, stream: Stream, name: str) -> None:
        self._stream, self._name = stream, name
        self._packed = b""
        self._one = zlib.decompressobj(_GZIP)  # several may follow each other in one file

    def read(self, size: int = CHUNK_BYTES) -> bytes:
        while True:
            if self._one.eof:
                self._packed = self._one.unused_data
                self._one = zlib.decompressobj(_GZIP)
                if not (self._packed or self._more()):
                    return b""
            elif not self._packed and not self._more():
                raise SourceFailed(f"{self._name} is cut: its gzip has no end")
            if data := self._unpack(size):
                return data

    def file(self) -> BinaryIO | None:
        return None

    def check(self) -> None:
        self._stream.check()

    def close(self) -> None:
        self._stream.close()

    def _more(self) -> bytes:
        self._packed = self._stream.read()
        return self._packed

    def _unpack(self, size: int) -> bytes:
        try:
            data = self._one.decompress(self._packed, size)
        except zlib.error as problem:
            raise SourceFailed(f"{self._name} is damaged: its gzip cannot be read ({problem})") from None
        self._packed = self._one.unconsumed_tail
        return data
