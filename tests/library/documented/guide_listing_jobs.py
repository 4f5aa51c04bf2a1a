"""Jobs can be had as a list, of one store or of all, and be printed with their triggers and next runs.

Prints:
    Pending jobs:
        report (trigger: date[2099-01-01 12:00:00 UTC], pending)
    Jobstore default:
        report (trigger: date[2099-01-01 12:00:00 UTC], next run at: 2099-01-01 12:00:00 UTC)
        weekly report (trigger: cron[day_of_week='fri', hour='17'], paused)
    Jobstore other:
        No scheduled jobs
    ['report', 'weekly']
    []
    <Job (id=weekly name=weekly report)>
    None
"""

from waterclock.schedulers.background import BackgroundScheduler


def report() -> None:
    pass


if __name__ == "__main__":
    scheduler = BackgroundScheduler(timezone="UTC")
    scheduler.add_jobstore("memory", "other")
    scheduler.add_job(report, "date", run_date="2099-01-01 12:00:00", id="report")
    scheduler.print_jobs()
    scheduler.start()
    job = scheduler.add_job(report, "cron", day_of_week="fri", hour=17, id="weekly", name="weekly report")
    job.pause()
    scheduler.print_jobs()
    print([job.id for job in scheduler.get_jobs()])
    print(scheduler.get_jobs(jobstore="other"))
    print(repr(scheduler.get_job("weekly", "default")))
    print(scheduler.get_job("nobody"))
    scheduler.shutdown()
