"""In a store that outlives the program a job needs an id and `replace_existing`, or each start adds another copy.

Prints:
    first start: 2 jobs, backup by interval[1:00:00]
    second start: 3 jobs, backup by interval[2:00:00]
    conflict: 'Job identifier (backup) conflicts with an existing job'
    3 jobs
"""

from waterclock.jobstores.base import ConflictingIdError
from waterclock.schedulers.background import BackgroundScheduler


def back_up(what: str) -> None:
    print("never run here", what)


def started(hours: int) -> BackgroundScheduler:
    """What the program does whenever it begins."""
    scheduler = BackgroundScheduler()
    scheduler.add_jobstore("sqlalchemy", url="sqlite:///jobs.sqlite")
    scheduler.add_job(back_up, "interval", ["all"], hours=hours, id="backup", replace_existing=True)
    scheduler.add_job(back_up, "interval", ["again"], days=1)
    scheduler.start()
    return scheduler


def show(scheduler: BackgroundScheduler, when: str) -> None:
    backup = scheduler.get_job("backup")
    assert backup
    print(f"{when}: {len(scheduler.get_jobs())} jobs, backup by {backup.trigger}")


if __name__ == "__main__":
    scheduler = started(hours=1)
    show(scheduler, "first start")
    scheduler.shutdown()
    scheduler = started(hours=2)
    show(scheduler, "second start")
    try:
        scheduler.add_job(back_up, "interval", ["all"], hours=3, id="backup")
    except ConflictingIdError as error:
        print("conflict:", error)
    print(len(scheduler.get_jobs()), "jobs")
    scheduler.shutdown()
