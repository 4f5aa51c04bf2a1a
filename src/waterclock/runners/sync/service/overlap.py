"""Records that two pages in a row show, since others came in before them while they were read: known by their key.

A full sync puts each in place as it comes, and would double them; an incremental one with keys finds them anyway.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any


class Overlap:
    """Remembers the keys of this page and of the one before: more would be all, and memory is bounded."""

    def __init__(self, keys: Sequence[str]) -> None:
        self._keys = keys
        self._page = 0
        self._before: set[str] = set()
        self._now: set[str] = set()

    def holds(self, page: int, record: Mapping[str, Any]) -> bool:
        """Whether it was shown already; from now on it was."""
        if not self._keys:
            return False
        if page != self._page:
            self._page, self._before, self._now = page, self._now, set()
        values = [record.get(name) for name in self._keys]
        if None in values:  # without a key it is like no other
            return False
        key = json.dumps(values, sort_keys=True)
        held = key in self._before or key in self._now
        self._now.add(key)
        return held
