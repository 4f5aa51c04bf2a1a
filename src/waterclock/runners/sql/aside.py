"""The names of what is not yet, or no longer, in its place: whose it is, and of what."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Self

from waterclock.runners.sql.outputs import Tag

_NAME: Final = re.compile(r"\.waterclock-([0-9]+)-([0-9]+)-((?:new|old)[0-9]*)-(.+)", re.DOTALL)


class Stage(StrEnum):
    NEW = "new"  # is being loaded
    OLD = "old"  # was there before, and goes once the new one is in its place


@dataclass(frozen=True, slots=True, kw_only=True)
class Aside:
    tag: Tag
    stage: Stage
    of: str  # the name of the place
    number: int = 0  # of old ones: others may put theirs into the place meanwhile; of new ones: one is made of another

    def __str__(self) -> str:
        """Readers skip what begins with a dot, as they skip Spark's own files that are not finished."""
        number = self.number or ""
        return f"{prefix(self.tag)}{self.tag.attempt_id}-{self.stage}{number}-{self.of}"

    @classmethod
    def read(cls, name: str) -> Self | None:
        if not (found := _NAME.fullmatch(name)):
            return None
        job, attempt, stage, of = found.groups()
        tag = Tag(job_id=int(job), attempt_id=int(attempt))
        return cls(tag=tag, stage=Stage(stage[:3]), of=of, number=int(stage[3:] or 0))

    def is_left_for(self, tag: Tag, of: str) -> bool:
        """Whether `tag`'s sweep for the place `of` removes it.

        All that earlier attempts of the job left, wherever it was to go; of the same attempt only what belongs to this
        place, since another output of it may be at work beside. Never that of a later attempt: whoever outlives a
        killed one may be late.
        """
        if self.tag.job_id != tag.job_id:
            return False
        return self.tag.attempt_id < tag.attempt_id or (self.tag.attempt_id == tag.attempt_id and self.of == of)


def prefix(tag: Tag) -> str:
    return f".waterclock-{tag.job_id}-"


def left_for(tag: Tag, of: str, names: Iterable[str]) -> list[Aside]:
    """Those among `names` that a sweep removes."""
    found = (Aside.read(name) for name in names)
    return [each for each in found if each is not None and each.is_left_for(tag, of)]
