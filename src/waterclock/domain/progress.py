"""How far a run has come: what its program says of itself while it runs, kept with the run."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Of one attempt; `fence` is what entitles the writer to store it."""

    attempt_id: int
    fence: int
    phase: str | None = None
    progress: Mapping[str, object] = field(default_factory=dict)
