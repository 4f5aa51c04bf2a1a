"""A job may add others; they find each other by name, and go together.

Prints:
    ['parent', 'the parent']
    []
"""

from threading import Event

from waterclock.schedulers.background import BackgroundScheduler

scheduler = BackgroundScheduler()
added = Event()


def child() -> None:
    pass


def parent() -> None:
    scheduler.add_job(child, "interval", hours=2, name="the parent", id="child", replace_existing=True)
    added.set()


def remove_parent_and_children(job_id: str) -> None:
    scheduler.pause_job(job_id, None)
    for job in [job for job in scheduler.get_jobs() if job.name == job_id]:
        scheduler.remove_job(job.id)
    scheduler.remove_job(job_id)


if __name__ == "__main__":
    scheduler.add_job(parent, "interval", seconds=0.05, name="parent", id="the parent")
    scheduler.start()
    assert added.wait(10)
    print(sorted(job.name for job in scheduler.get_jobs()))
    remove_parent_and_children("the parent")
    print(scheduler.get_jobs())
    scheduler.shutdown()
