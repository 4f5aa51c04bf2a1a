"""Cron schedules: an expression of any dialect, in a zone, with its policy for summer time."""

from dataclasses import dataclass, field

from waterclock.domain.cron import Wall, parse_cron
from waterclock.domain.schedule.base import Fold, Gap
from waterclock.domain.schedule.zone import Zone, find_zone
from waterclock.domain.schedule.zoned import Zoned


@dataclass(frozen=True, slots=True, kw_only=True)
class Cron(Zoned):
    """Fires at the local times of `expression` in `timezone`.

    An expression that allows every hour of the day means an interval ("every ten minutes"), not a time of day: it runs
    on through a doubled hour under either policy, since an hour of silence is never what it asks for.
    """

    expression: str
    timezone: str = "UTC"
    gap: Gap = Gap.RUN_AT_JUMP
    fold: Fold = Fold.ONCE
    _rule: Wall = field(init=False, compare=False, repr=False)
    _zone: Zone = field(init=False, compare=False, repr=False)
    _catches_gap: bool = field(init=False, compare=False, repr=False)
    _repeats_fold: bool = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        rule = parse_cron(self.expression)
        object.__setattr__(self, "_rule", rule)
        object.__setattr__(self, "_zone", find_zone(self.timezone))
        object.__setattr__(self, "_catches_gap", self.gap is Gap.RUN_AT_JUMP)
        object.__setattr__(self, "_repeats_fold", self.fold is Fold.TWICE)
