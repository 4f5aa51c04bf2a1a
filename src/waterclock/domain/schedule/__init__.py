"""Schedules: frozen values that say when. `parse_schedule` reads every dialect; `to_json`/`from_json` keep them."""

from waterclock.domain.schedule.base import Count, Fold, Gap, Schedule
from waterclock.domain.schedule.bounded import Bounded
from waterclock.domain.schedule.calendar import Calendar, Unit
from waterclock.domain.schedule.codec import from_json, to_json
from waterclock.domain.schedule.combined import Combined, How
from waterclock.domain.schedule.cron import Cron
from waterclock.domain.schedule.every import Every
from waterclock.domain.schedule.excluding import Excluding
from waterclock.domain.schedule.fielded import Fielded
from waterclock.domain.schedule.jittered import Jittered
from waterclock.domain.schedule.moment import from_us, to_us
from waterclock.domain.schedule.once import Once
from waterclock.domain.schedule.parse import parse_schedule
from waterclock.domain.schedule.stepped import Stepped

__all__ = [
    "Bounded",
    "Calendar",
    "Combined",
    "Count",
    "Cron",
    "Every",
    "Excluding",
    "Fielded",
    "Fold",
    "Gap",
    "How",
    "Jittered",
    "Once",
    "Schedule",
    "Stepped",
    "Unit",
    "from_json",
    "from_us",
    "parse_schedule",
    "to_json",
    "to_us",
]
