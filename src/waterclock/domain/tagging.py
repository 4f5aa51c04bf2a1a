"""Tags: free labels on what a face keeps, changed by its owner, and looked for in lists."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from waterclock.domain.errors import InvalidInput

MOST_TAGS: Final = 50


class Taggable(StrEnum):
    """What may carry tags, by the word that errors name it with."""

    JOB = "job"
    TRIGGER = "trigger"
    FLOW = "workflow"
    CRAWLER = "crawler"


@dataclass(frozen=True, slots=True, kw_only=True)
class Resource:
    """What a caller names when it speaks of tags: it may be somebody else's."""

    kind: Taggable
    account: str
    namespace: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Tagged:
    id: int
    owner: str
    tags: Mapping[str, str]


def with_tags(tags: Mapping[str, str], added: Mapping[str, str]) -> dict[str, str]:
    changed = {**tags, **added}
    if len(changed) > MOST_TAGS:
        raise InvalidInput(f"would leave {len(changed)} tags, and {MOST_TAGS} are the most", field="TagsToAdd")
    return changed


def without_tags(tags: Mapping[str, str], removed: Collection[str]) -> dict[str, str]:
    return {key: value for key, value in tags.items() if key not in removed}


def carries(tags: Mapping[str, str], wanted: Mapping[str, str]) -> bool:
    """Whether it has all of them, with these values."""
    return wanted.items() <= tags.items()
