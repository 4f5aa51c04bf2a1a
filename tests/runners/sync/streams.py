"""A file in memory, as a place would open it."""

from typing import BinaryIO


class Bytes:
    def __init__(self, data: bytes) -> None:
        self._data = data

    def read(self, size: int = 1 << 20) -> bytes:
        data, self._data = self._data[:size], self._data[size:]
        return data

    def file(self) -> BinaryIO | None:
        return None

    def check(self) -> None: ...

    def close(self) -> None: ...
