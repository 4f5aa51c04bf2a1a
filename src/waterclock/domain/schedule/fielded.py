"""Field schedules: year, month, day, ISO week, weekday, hour, minute and second, all of which must match, in a zone."""

from dataclasses import dataclass, field

from waterclock.domain.cron.named import NAMES, parse_named
from waterclock.domain.cron.search import Wall
from waterclock.domain.errors import InvalidInput
from waterclock.domain.schedule.base import Fold, Gap
from waterclock.domain.schedule.zone import Zone, find_zone_or_offset
from waterclock.domain.schedule.zoned import Zoned

__all__ = ["NAMES", "Fielded"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fielded(Zoned):
    """Fires at the local times that match every field; Monday is 0. Fields that can never all match never fire.

    Each text is kept in the one form in which it is written back: ` 05 ` is `5`, `FRI` is `fri`.
    """

    year: str = "*"
    month: str = "*"
    day: str = "*"
    week: str = "*"
    day_of_week: str = "*"
    hour: str = "*"
    minute: str = "*"
    second: str = "*"
    timezone: str = "UTC"
    gap: Gap = Gap.RUN_AT_JUMP
    fold: Fold = Fold.ONCE
    _rule: Wall = field(init=False, compare=False, repr=False)
    _zone: Zone = field(init=False, compare=False, repr=False)
    _catches_gap: bool = field(init=False, compare=False, repr=False)
    _repeats_fold: bool = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        texts = tuple(getattr(self, name) for name in NAMES)
        for name, text in zip(NAMES, texts, strict=True):
            if not isinstance(text, str):
                raise InvalidInput("is not text", field=name, value=text)
        named = parse_named(texts)
        for name, text in zip(NAMES, named.texts, strict=True):
            object.__setattr__(self, name, text)
        object.__setattr__(self, "_rule", named.wall)
        object.__setattr__(self, "_zone", find_zone_or_offset(self.timezone))
        object.__setattr__(self, "_catches_gap", self.gap is Gap.RUN_AT_JUMP)
        object.__setattr__(self, "_repeats_fold", self.fold is Fold.TWICE)
