"""How far a run has come: what its program says of itself while it runs, kept with the run.

A program may say anything: what is read of it is brought into a form that every store and every reader takes.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from waterclock.domain.masking import Masks
from waterclock.domain.run import Phase

LARGEST: Final = 64 * 1024  # characters of a report
LONGEST_REASON: Final = 4_000
DEEPEST: Final = 20

_LARGEST_NUMBER: Final = 2**63
_PHASES: Final = frozenset(Phase)


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """By a program, of itself."""

    phase: str | None = None
    progress: Mapping[str, object] = field(default_factory=dict)
    reason: str | None = None  # why it failed, in the words that the run is to show first

    @classmethod
    def read(cls, plain: object) -> "Said":
        """Of whatever the program has written; what is none of this is passed over."""
        if not isinstance(plain, dict):
            return cls()
        phase, progress, reason = plain.get("phase"), plain.get("progress"), plain.get("reason")
        return cls(
            phase=phase if isinstance(phase, str) and phase in _PHASES else None,
            progress=_plain_members(progress) if isinstance(progress, dict) else {},
            reason=_text(reason)[:LONGEST_REASON].strip() or None if isinstance(reason, str) else None,
        )

    def masked(self, masks: Masks | None) -> "Said":
        """As it may be shown; where that is not known, its phase alone."""
        if masks is None:
            return Said(phase=self.phase)
        if not masks:
            return self
        reason = None if self.reason is None else masks.text(self.reason)
        return Said(phase=self.phase, progress=_masked_members(self.progress, masks), reason=reason)


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Of one attempt; `fence` is what entitles the writer to store it."""

    attempt_id: int
    fence: int
    phase: str | None = None
    progress: Mapping[str, object] = field(default_factory=dict)


def _plain_members(given: Mapping[object, object], depth: int = 0) -> dict[str, object]:
    return {_text(str(name)): _plain(item, depth + 1) for name, item in given.items()}


def _plain(value: object, depth: int) -> object:
    """Numbers of 64 bits, texts that are UTF-8, nothing too deep."""
    match value:
        case str():
            return _text(value)
        case bool() | None:
            return value
        case int():
            return value if -_LARGEST_NUMBER <= value < _LARGEST_NUMBER else str(value)
        case float():
            return value if math.isfinite(value) else None
        case dict() if depth < DEEPEST:
            return _plain_members(value, depth)
        case list() if depth < DEEPEST:
            return [_plain(item, depth + 1) for item in value]
    return None


def _text(text: str) -> str:
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode("utf-8")


def _masked_members(given: Mapping[str, object], masks: Masks) -> dict[str, object]:
    return {masks.text(name): _masked(item, masks) for name, item in given.items()}


def _masked(value: object, masks: Masks) -> object:
    match value:
        case str():
            return masks.text(value)
        case dict():
            return _masked_members(value, masks)
        case list():
            return [_masked(item, masks) for item in value]
    return value
