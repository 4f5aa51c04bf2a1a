"""The seam between a file format and a file system: the folder of a result, with its one part and `_SUCCESS`.

As Spark leaves it: readers take `part-*` and skip what begins with `.` or `_`.
"""

import fnmatch
from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import Final, Protocol

from waterclock.runners.sql.outputs import OutputFailed, Tag

DONE: Final = "_SUCCESS"
# What may stand in a folder that a result replaces: whatever Spark writes and we do, and nothing else.
_OF_A_RESULT: Final = ("part-*", "_*", ".part-*.crc", "._*.crc", "*=*", ".waterclock-*")
_SHOWN: Final = 3


class Sink(Protocol):
    def write(self, data: bytes) -> object: ...

    def close(self) -> None:
        """All of it is stored; a failure to store it is raised here at the latest."""
        ...


class Mode(StrEnum):
    REPLACE = "replace"
    APPEND = "append"
    UPSERT = "upsert"  # rows with a key that is there take its place, the others are added


class Folder(Protocol):
    """In the order of the Output that it is part of: sweep, create, commit; or abort at any point."""

    @property
    def where(self) -> str: ...

    def sweep(self) -> None: ...

    def create(self, ending: str) -> Sink:
        """The part, aside; `ending` is `csv` or `parquet`."""
        ...

    def parts(self) -> Iterator[tuple[str, Iterator[bytes]]]:
        """What is there now, whoever wrote it: the names, and what they hold in pieces."""
        ...

    def commit(self) -> None:
        """After its part has been closed."""
        ...

    def abort(self) -> None: ...


def part_name(mode: Mode, tag: Tag, ending: str) -> str:
    """One name for all results that replace each other; one of its own for each that is added."""
    own = f"-{tag.job_id}-{tag.attempt_id}" if mode is Mode.APPEND else ""
    return f"part-00000{own}.{ending}"


def check_replaceable(where: str, names: Iterable[str]) -> None:
    """A mistyped path must not cost anybody a folder: only what looks like a result is replaced by one."""
    others = [name for name in names if not any(fnmatch.fnmatchcase(name, each) for each in _OF_A_RESULT)]
    if others:
        shown = ", ".join(map(repr, sorted(others)[:_SHOWN])) + (" …" if len(others) > _SHOWN else "")
        raise OutputFailed(
            f"{where} holds {shown}, which is no part of a result (part-*, _SUCCESS): it is not replaced. "
            "Choose another result_path, or empty that folder"
        )
