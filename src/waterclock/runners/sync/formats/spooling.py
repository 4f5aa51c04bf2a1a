"""Formats that are read from their end: a file of this machine as it is, any other from a copy in the run's folder."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

from waterclock.runners.sync.formats.format import File
from waterclock.runners.sync.formats.gzip import unpacked


@contextmanager
def at_any_point(file: File) -> Iterator[IO[bytes]]:
    """The copy has no name: it is gone with whoever reads it."""
    stream = unpacked(file.stream, file.name)
    if (found := stream.file()) is not None:
        with found:
            found.seek(0)
            yield found
        stream.check()
        return
    with tempfile.TemporaryFile(dir=".") as copy:
        while data := stream.read():
            copy.write(data)
        copy.seek(0)
        yield copy
