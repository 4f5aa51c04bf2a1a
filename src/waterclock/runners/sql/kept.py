"""The names of what a newer result has replaced, and which is kept for some hours: until when is part of the name.

.waterclock-old-7-12-202611170930-abc   was replaced by attempt 12 of job 7, and goes with the first run after 9:30
"""

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final, Self

from waterclock.runners.sql.outputs import Tag

MOST: Final = 3  # of one job in one place; a table that is replaced every minute is not kept a thousand times
PREFIX: Final = ".waterclock-old-"
_NAME: Final = re.compile(r"\.waterclock-old-([0-9]+)-([0-9]+)-([0-9]{12})-(.+)", re.DOTALL)
_MINUTE: Final = "%Y%m%d%H%M"
_HASH_LETTERS: Final = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    tag: Tag
    until: datetime
    of: str

    def __str__(self) -> str:
        return f"{PREFIX}{self.tag.job_id}-{self.tag.attempt_id}-{self.until.strftime(_MINUTE)}-{self.of}"

    @classmethod
    def read(cls, name: str) -> Self | None:
        if not (found := _NAME.fullmatch(name)):
            return None
        job, attempt, until, of = found.groups()
        try:
            moment = datetime.strptime(until, _MINUTE).replace(tzinfo=UTC)
        except ValueError:
            return None
        return cls(tag=Tag(job_id=int(job), attempt_id=int(attempt)), until=moment, of=of)


def kept(tag: Tag, of: str, *, hours: float, wall_us: int, longest: int = 255) -> str:
    """Its name; a long one is cut to `longest` bytes, with a hash of what it was."""
    whole_minute = datetime.fromtimestamp(wall_us // 1_000_000, UTC) + timedelta(hours=hours, minutes=1)
    name = Kept(tag=tag, until=whole_minute, of="")
    return f"{name}{short(of, longest - len(str(name)))}"


def due(names: Iterable[str], *, wall_us: int) -> list[str]:
    """Whose time is over, whoever kept them."""
    now = datetime.fromtimestamp(wall_us // 1_000_000, UTC)
    return [name for name in names if (one := Kept.read(name)) is not None and one.until <= now]


def too_many(names: Iterable[str], tag: Tag, of: str) -> list[str]:
    """The oldest, where a job has kept more of a place than it may."""
    found = [each for name in names if (each := Kept.read(name)) is not None]
    own = [each for each in found if each.tag.job_id == tag.job_id and _is_of(each.of, of)]
    return [str(each) for each in _latest_first(own)[MOST:]]


def short(name: str, most: int) -> str:
    """Whole where it fits; else its begin and a hash, of no more than so many bytes."""
    if len(name.encode()) <= most:
        return name
    digest = hashlib.sha256(name.encode()).hexdigest()[:_HASH_LETTERS]
    begin = name.encode()[: max(most - _HASH_LETTERS - 1, 0)].decode(errors="ignore")
    return f"{begin}~{digest}"


def _is_of(kept_of: str, of: str) -> bool:
    return kept_of == of or kept_of == short(of, len(kept_of.encode()))


def _latest_first(those: Sequence[Kept]) -> list[Kept]:
    return sorted(those, key=lambda each: each.tag.attempt_id, reverse=True)
