"""The cron trigger: fires when year, month, day, week, weekday, hour, minute and second all match."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from typing import Any, ClassVar, Final

from waterclock.domain.schedule import Fielded, Fold, Gap
from waterclock.domain.schedule.fielded import NAMES
from waterclock.triggers.base import ScheduleTrigger, as_value_errors, between, jittered, new_seed
from waterclock.triggers.dates import DateLike, optional_moment, shown, zone_for
from waterclock.triggers.zones import zone_name

# Fields less significant than the last one given, when they are not given themselves.
AT_THEIR_LEAST: Final = {"month": "1", "day": "1", "hour": "0", "minute": "0", "second": "0"}


@dataclass(frozen=True, slots=True)
class CronField:
    """One field of a cron trigger; `str()` is its expression. `is_default` when it was not given."""

    name: str
    expression: str
    is_default: bool = field(default=False, compare=False)

    def __str__(self) -> str:
        return self.expression

    def __repr__(self) -> str:
        return f"{type(self).__name__}('{self.name}', '{self}')"


class CronTrigger(ScheduleTrigger):
    """Fires at the local times that match every field, from `start_date` to `end_date`, both included.

    Fields that are not given match anything, but those less significant than the least significant one given match
    their least value only; `week` and `day_of_week` always match anything. Monday is 0.
    """

    __slots__ = ("_seed", "end_date", "fields", "fold", "gap", "jitter", "start_date")

    FIELD_NAMES: ClassVar = NAMES

    fields: list[CronField]
    start_date: datetime | None
    end_date: datetime | None
    jitter: float | None
    gap: Gap
    fold: Fold

    def __init__(
        self,
        year: int | str | None = None,
        month: int | str | None = None,
        day: int | str | None = None,
        week: int | str | None = None,
        day_of_week: int | str | None = None,
        hour: int | str | None = None,
        minute: int | str | None = None,
        second: int | str | None = None,
        start_date: DateLike | None = None,
        end_date: DateLike | None = None,
        timezone: tzinfo | str | None = None,
        jitter: float | None = None,
        *,
        gap: Gap | str = Gap.RUN_AT_JUMP,
        fold: Fold | str = Fold.ONCE,
    ) -> None:
        values = (year, month, day, week, day_of_week, hour, minute, second)
        zone = zone_for(timezone, start_date, end_date)
        self._set(
            fields={name: str(value) for name, value in zip(NAMES, values, strict=True) if value is not None},
            start_date=optional_moment(start_date, zone, "start_date"),
            end_date=optional_moment(end_date, zone, "end_date"),
            timezone=zone,
            jitter=jitter,
            gap=Gap(gap),
            fold=Fold(fold),
            seed=new_seed(),
        )

    @classmethod
    def from_crontab(cls, expr: str, timezone: tzinfo | str | None = None) -> CronTrigger:
        """The trigger of `minute hour day month day_of_week`, each in this trigger's own syntax: Monday is 0."""
        values = expr.split()
        if len(values) != 5:
            raise ValueError(f"Wrong number of fields; got {len(values)}, expected 5")
        minute, hour, day, month, day_of_week = values
        return cls(minute=minute, hour=hour, day=day, month=month, day_of_week=day_of_week, timezone=timezone)

    def _set(
        self,
        *,
        fields: Mapping[str, str],
        start_date: datetime | None,
        end_date: datetime | None,
        timezone: tzinfo,
        jitter: float | None,
        gap: Gap,
        fold: Fold,
        seed: str,
    ) -> None:
        self.start_date, self.end_date, self.timezone = start_date, end_date, timezone
        self.jitter, self.gap, self.fold, self._seed = jitter, gap, fold, seed
        with as_value_errors():
            fielded = Fielded(**_with_defaults(fields), timezone=zone_name(timezone), gap=gap, fold=fold)
            self.schedule = jittered(between(fielded, start_date, end_date), jitter, seed, end_date)
        self.fields = [CronField(name, getattr(fielded, name), name not in fields) for name in NAMES]

    def __getstate__(self) -> dict[str, Any]:
        return {
            "fields": self._given(),
            "start_date": self.start_date,
            "end_date": self.end_date,
            "timezone": self.timezone,
            "jitter": self.jitter,
            "gap": self.gap,
            "fold": self.fold,
            "seed": self._seed,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._set(**state)

    def _given(self) -> dict[str, str]:
        return {each.name: each.expression for each in self.fields if not each.is_default}

    def _shown(self) -> list[str]:
        return [f"{name}='{text}'" for name, text in self._given().items()]

    def __str__(self) -> str:
        return f"cron[{', '.join(self._shown())}]"

    def __repr__(self) -> str:
        options = self._shown()
        options += [f"start_date='{shown(self.start_date)}'"] if self.start_date else []
        options += [f"end_date='{shown(self.end_date)}'"] if self.end_date else []
        options += [f"jitter={self.jitter}"] if self.jitter else []
        return f"<{type(self).__name__} ({', '.join(options)}, timezone='{self.timezone}')>"


def _with_defaults(fields: Mapping[str, str]) -> dict[str, str]:
    least = max((NAMES.index(name) for name in fields), default=len(NAMES))
    defaults = {name: AT_THEIR_LEAST.get(name, "*") if place > least else "*" for place, name in enumerate(NAMES)}
    return defaults | dict(fields)
