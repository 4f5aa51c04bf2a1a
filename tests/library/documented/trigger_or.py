"""An `or` of triggers runs a job whenever one of them would: Mondays at 2 am, Tuesdays at 3 pm.

Prints:
    or[cron[day_of_week='mon', hour='2'], cron[day_of_week='tue', hour='15']]
    Mon 02:00
    Tue 15:00
    Mon 02:00
    next run at one of them: True
"""

from datetime import UTC, datetime

from waterclock.schedulers.background import BackgroundScheduler
from waterclock.triggers.combining import OrTrigger
from waterclock.triggers.cron import CronTrigger


def job_function() -> None:
    pass


if __name__ == "__main__":
    trigger = OrTrigger(
        [
            CronTrigger(day_of_week="mon", hour=2, timezone="UTC"),
            CronTrigger(day_of_week="tue", hour=15, timezone="UTC"),
        ]
    )
    print(trigger)
    now = datetime(2026, 11, 15, 12, tzinfo=UTC)
    fire = trigger.get_next_fire_time(None, now)
    for _ in range(3):
        assert fire
        print(f"{fire:%a %H:%M}")
        fire = trigger.get_next_fire_time(fire, fire)

    scheduler = BackgroundScheduler(timezone="UTC")
    scheduler.start()
    job = scheduler.add_job(job_function, trigger)
    print("next run at one of them:", f"{job.next_run_time:%a %H:%M}" in ("Mon 02:00", "Tue 15:00"))
    scheduler.shutdown()
