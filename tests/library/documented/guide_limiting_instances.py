"""A job that still runs when it is due again is not run a second time, unless it may have more instances.

Prints:
    one: 1 at most, skipped
    two: 2 at most, skipped
"""

from threading import Event, Lock

from waterclock.events import EVENT_JOB_MAX_INSTANCES, JobSubmissionEvent
from waterclock.schedulers.background import BackgroundScheduler

released = Event()
counting = Lock()
running = {"one": 0, "two": 0}
most = {"one": 0, "two": 0}
skipped = {"one": Event(), "two": Event()}


def slow(name: str) -> None:
    with counting:
        running[name] += 1
        most[name] = max(most[name], running[name])
    released.wait(10)
    with counting:
        running[name] -= 1


def note(event: JobSubmissionEvent) -> None:
    if event.scheduled_run_times:
        skipped[event.job_id].set()


if __name__ == "__main__":
    scheduler = BackgroundScheduler()
    scheduler.add_listener(note, EVENT_JOB_MAX_INSTANCES)
    scheduler.add_job(slow, "interval", ["one"], seconds=0.1, id="one")
    scheduler.add_job(slow, "interval", ["two"], seconds=0.1, id="two", max_instances=2)
    scheduler.start()
    for name in ("one", "two"):
        assert skipped[name].wait(10)
        print(f"{name}: {most[name]} at most, skipped")
    released.set()
    scheduler.shutdown()
