"""The expressions whose next fire is asked for, in the words of each library; None where it has no words for it."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class Expression:
    """One rule in one zone. Of the two that read crontab, croniter has seconds last and cronsim first."""

    name: str
    zone: str
    waterclock: str
    quartz: str | None
    croniter: str | None
    cronsim: str | None
    apscheduler: str | None  # fields by semicolons

    def text(self, library: str) -> str | None:
        found: str | None = getattr(self, library)
        return found

    @property
    def key(self) -> str:
        return "us_" + "_".join(self.name.lower().replace(",", "").replace(":", "").split())

    @property
    def shared(self) -> bool:
        """Whether every library can say it."""
        return None not in (self.quartz, self.croniter, self.cronsim, self.apscheduler)


TYPICAL: Final = (
    Expression(
        name="every 5 minutes",
        zone="UTC",
        waterclock="*/5 * * * *",
        quartz="0 */5 * * * ?",
        croniter="*/5 * * * *",
        cronsim="*/5 * * * *",
        apscheduler="minute=*/5",
    ),
    Expression(
        name="every 2 seconds",
        zone="UTC",
        waterclock="0/2 * * * * ?",
        quartz="0/2 * * * * ?",
        croniter="* * * * * */2",
        cronsim="*/2 * * * * *",
        apscheduler="second=*/2",
    ),
    Expression(
        name="hourly, Berlin",
        zone="Europe/Berlin",
        waterclock="0 * * * *",
        quartz="0 0 * * * ?",
        croniter="0 * * * *",
        cronsim="0 * * * *",
        apscheduler="minute=0",
    ),
    Expression(
        name="weekdays 04:30, Berlin",
        zone="Europe/Berlin",
        waterclock="30 4 * * MON-FRI",
        quartz="0 30 4 ? * MON-FRI",
        croniter="30 4 * * MON-FRI",
        cronsim="30 4 * * MON-FRI",
        apscheduler="day_of_week=mon-fri;hour=4;minute=30",
    ),
    Expression(
        name="daily 12:00, New York",
        zone="America/New_York",
        waterclock="cron(0 12 * * ? *)",
        quartz="0 0 12 * * ?",
        croniter="0 12 * * *",
        cronsim="0 12 * * *",
        apscheduler="hour=12",
    ),
    Expression(
        name="1st of month",
        zone="UTC",
        waterclock="0 0 1 * *",
        quartz="0 0 0 1 * ?",
        croniter="0 0 1 * *",
        cronsim="0 0 1 * *",
        apscheduler="day=1",
    ),
)
HARD: Final = (
    Expression(
        name="29 February, Berlin",
        zone="Europe/Berlin",
        waterclock="0 0 29 2 *",
        quartz="0 0 0 29 2 ?",
        croniter="0 0 29 2 *",
        cronsim="0 0 29 2 *",
        apscheduler="month=2;day=29",
    ),
    Expression(
        name="last day 12:00",
        zone="UTC",
        waterclock="0 0 12 L * ?",
        quartz="0 0 12 L * ?",
        croniter="0 12 L * *",
        cronsim="0 12 L * *",
        apscheduler="day=last;hour=12",
    ),
    Expression(
        name="third Friday, New York",
        zone="America/New_York",
        waterclock="0 0 12 ? * 6#3",
        quartz="0 0 12 ? * 6#3",
        croniter="0 12 * * FRI#3",
        cronsim="0 12 * * FRI#3",
        apscheduler="day=3rd fri;hour=12",
    ),
    Expression(
        name="last Friday, Berlin",
        zone="Europe/Berlin",
        waterclock="0 0 12 ? * 6L",
        quartz="0 0 12 ? * 6L",
        croniter="0 12 * * L5",
        cronsim="0 12 * * 5L",
        apscheduler="day=last fri;hour=12",
    ),
    Expression(
        name="fifth Friday of February, New York",
        zone="America/New_York",
        waterclock="0 0 12 ? 2 6#5",
        quartz="0 0 12 ? 2 6#5",
        croniter="0 12 * 2 FRI#5",
        cronsim="0 12 * 2 FRI#5",
        apscheduler="month=2;day=5th fri;hour=12",
    ),
    Expression(
        name="last weekday",
        zone="UTC",
        waterclock="0 0 12 LW * ?",
        quartz="0 0 12 LW * ?",
        croniter=None,
        cronsim="0 12 LW * *",
        apscheduler=None,
    ),
    Expression(
        name="Friday or the 13th",
        zone="UTC",
        waterclock="0 0 13 * 5",
        quartz=None,
        croniter="0 0 13 * 5",
        cronsim="0 0 13 * 5",
        apscheduler=None,
    ),
)
