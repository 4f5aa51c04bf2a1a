"""Labels: what a job asks of the host that runs it, and what a worker offers. Sets, stored sorted and joined."""

import re
from collections.abc import Iterable
from functools import lru_cache
from itertools import combinations
from typing import Final

from waterclock.domain.errors import InvalidInput

MOST_LABELS: Final = 8  # of a job and of a worker, which looks for every subset of its own: they double with each
LONGEST_LABEL: Final = 63
LONGEST_LABELS: Final = 255  # of all together, with the commas between them

_LABEL: Final = re.compile(r"[A-Za-z0-9._=:-]+")


def label_set(given: Iterable[str], field: str) -> tuple[str, ...]:
    """Sorted, each once; or what is wrong with them."""
    found = plain_set(given)
    for label in found:
        if len(label) > LONGEST_LABEL or not _LABEL.fullmatch(label):
            raise InvalidInput(
                f"{label!r}: a label has 1 to {LONGEST_LABEL} of letters, digits and -_.=:", field=field, value=label
            )
    if len(found) > MOST_LABELS:
        raise InvalidInput(f"must be at most {MOST_LABELS} labels, not {len(found)}", field=field)
    if len(joined(found)) > LONGEST_LABELS:
        raise InvalidInput(f"must have at most {LONGEST_LABELS} characters together", field=field)
    return found


def plain_set(given: Iterable[str]) -> tuple[str, ...]:
    """As they are stored, whatever they are: a job of an earlier release has them in any order."""
    return tuple(sorted(set(given)))


def joined(labels: Iterable[str]) -> str:
    """As a run carries them."""
    return ",".join(labels)


def offers(labels: Iterable[str], asked: str) -> bool:
    """Whether somebody with these labels has all that are asked for, joined."""
    return not asked or set(asked.split(",")) <= set(labels)


@lru_cache(maxsize=1024)
def subsets(labels: tuple[str, ...]) -> tuple[str, ...]:
    """Every set that a worker with these labels may take, joined: from none of them to all."""
    offered = plain_set(labels)
    if len(offered) > MOST_LABELS:
        raise InvalidInput(f"must be at most {MOST_LABELS} labels, not {len(offered)}", field="labels")
    return tuple(joined(chosen) for size in range(len(offered) + 1) for chosen in combinations(offered, size))
