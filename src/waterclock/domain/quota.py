"""A quota: the most that a user, or a group as an owner, may have of something."""

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

EVERYBODY: Final = ""  # whose line holds for all who have none of their own
LARGEST: Final = 1_000_000_000


class QuotaKind(StrEnum):
    JOBS = "jobs"
    TRIGGERS = "triggers"
    WORKFLOWS = "workflows"
    CHAINS = "chains"
    LIVE_RUNS = "live_runs"  # those that they asked for themselves, and those that their triggers fired


@dataclass(frozen=True, slots=True, kw_only=True)
class Quota:
    user: str
    kind: QuotaKind
    most: int
    used: int = 0  # how many there are now; of EVERYBODY nobody counts

    @property
    def is_used_up(self) -> bool:
        return self.used >= self.most

    def with_one_more(self) -> "Quota":
        return replace(self, used=self.used + 1)
