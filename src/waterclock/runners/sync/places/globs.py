"""Which names a pattern means: `orders/*.csv`, `**/part-?.parquet`, `2026-[01]*/a.csv`.

A wildcard stays inside one folder, `**` is any number of folders. As Spark has it, no wildcard means a name that begins
with a dot or an underscore: such files are marks, or not whole yet.
"""

import fnmatch
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from waterclock.runners.sync.source import SourceFailed

_WILD: Final = frozenset("*?[")
_ANY_FOLDERS: Final = "**"
_HIDDEN: Final = (".", "_")


@dataclass(frozen=True)
class Glob:
    """Matching takes no longer than the pattern times the name, whatever stars are in it."""

    parts: tuple[str, ...]

    @property
    def is_plain(self) -> bool:
        return not any(_is_wild(part) for part in self.parts)

    @property
    def folder(self) -> tuple[str, ...]:
        """What leads to every match: the folders before the first wildcard."""
        first = next((number for number, part in enumerate(self.parts) if _is_wild(part)), len(self.parts) - 1)
        return self.parts[:first]

    @property
    def prefix(self) -> str:
        """What every match begins with, for a place that lists by it."""
        if self.is_plain:
            return "/".join(self.parts)
        begin = re.split(r"[*?\[]", self.parts[len(self.folder)])[0]
        return "/".join((*self.folder, begin))

    def matches(self, name: str) -> bool:
        return len(self.parts) in self._reached(name.split("/"))

    def may_lead(self, folder: Sequence[str]) -> bool:
        """Whether something below this folder could match."""
        return any(number < len(self.parts) for number in self._reached(folder))

    def _reached(self, names: Sequence[str]) -> set[int]:
        """How many parts of the pattern these names can have used up."""
        reached = self._past_any({0})
        for name in names:
            after = {at + 1 for at in reached if at < len(self.parts) and self._fits(at, name)}
            after |= {at for at in reached if self._is_any(at) and not name.startswith(_HIDDEN)}
            reached = self._past_any(after)
        return reached

    def _past_any(self, reached: set[int]) -> set[int]:
        """`**` may be no folder at all; at the end of a pattern it needs one name."""
        more = {at + 1 for at in reached if self._is_any(at) and at + 1 < len(self.parts)}
        return reached if more <= reached else self._past_any(reached | more)

    def _is_any(self, at: int) -> bool:
        return at < len(self.parts) and self.parts[at] == _ANY_FOLDERS

    def _fits(self, at: int, name: str) -> bool:
        part = self.parts[at]
        if not _is_wild(part):
            return part == name
        if name.startswith(_HIDDEN) and not part.startswith(name[0]):
            return False
        return self._patterns[at].match(name) is not None

    @cached_property
    def _patterns(self) -> tuple[re.Pattern[str], ...]:
        return tuple(re.compile(fnmatch.translate(part)) for part in self.parts)


def glob_of(pattern: str) -> Glob:
    """Always below the place: a slash in front changes nothing, and none leads up."""
    parts = tuple(part for part in pattern.split("/") if part not in ("", "."))
    if not parts:
        raise SourceFailed(f"path {pattern!r} names no file: give one such as orders/*.csv")
    if ".." in parts:
        raise SourceFailed(f"path {pattern!r} may not hold ..")
    if any(ord(letter) < 0x20 or letter == "\x7f" for letter in pattern):
        raise SourceFailed(f"path {pattern!r} holds a control character")
    return Glob(parts)


def _is_wild(part: str) -> bool:
    return not _WILD.isdisjoint(part)
