"""Finding files by a pattern in a tree of folders: only folders that can lead to one are looked into."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from waterclock.runners.sync.places.globs import Glob
from waterclock.runners.sync.places.place import Found
from waterclock.runners.sync.source import SourceFailed

_DEEPEST: Final = 64  # links may lead in circles


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    name: str
    is_folder: bool
    version: str = ""
    size: int | None = None


Folders = Callable[[Sequence[str]], Iterable[Entry]]


def walk(glob: Glob, entries: Folders, *, most: int | None = None) -> Sequence[Found]:
    """By name; `entries` answers with nothing where there is no such folder."""
    return sorted(islice(_below(glob, entries, glob.folder), most), key=lambda found: found.name)


def _below(glob: Glob, entries: Folders, folder: tuple[str, ...]) -> Iterator[Found]:
    if len(folder) > _DEEPEST:
        raise SourceFailed(f"{'/'.join(folder[:3])}/… has more than {_DEEPEST} folders in each other")
    for entry in sorted(entries(folder), key=lambda each: each.name):
        path = (*folder, entry.name)
        if entry.is_folder:
            if glob.may_lead(path):
                yield from _below(glob, entries, path)
        elif glob.matches("/".join(path)):
            yield Found(name="/".join(path), version=entry.version, size=entry.size)
