"""All seventeen events, from the start of a scheduler to its end, and what each of them carries.

Prints:
    ALL_JOBS_REMOVED: SchedulerEvent of default
    EXECUTOR_ADDED: SchedulerEvent of default
    EXECUTOR_REMOVED: SchedulerEvent of extra
    JOBSTORE_ADDED: SchedulerEvent of default
    JOBSTORE_REMOVED: SchedulerEvent of extra
    JOB_ADDED: JobEvent of good in default
    JOB_ERROR: JobExecutionEvent of bad in default, raised ZeroDivisionError
    JOB_EXECUTED: JobExecutionEvent of good in default, returned 42
    JOB_MAX_INSTANCES: JobSubmissionEvent of slow in default, 1 run time
    JOB_MISSED: JobExecutionEvent of late in default, returned None
    JOB_MODIFIED: JobEvent of slow in default
    JOB_REMOVED: JobEvent of good in default
    JOB_SUBMITTED: JobSubmissionEvent of good in default, 1 run time
    SCHEDULER_PAUSED: SchedulerEvent of None
    SCHEDULER_RESUMED: SchedulerEvent of None
    SCHEDULER_SHUTDOWN: SchedulerEvent of None
    SCHEDULER_STARTED: SchedulerEvent of None
"""

from threading import Condition, Event

from waterclock import events
from waterclock.events import JobEvent, JobExecutionEvent, JobSubmissionEvent, SchedulerEvent
from waterclock.schedulers.background import BackgroundScheduler

NAMES = {code: name.removeprefix("EVENT_") for name, code in vars(events).items() if name.startswith("EVENT_")}
NAMES[events.EVENT_SCHEDULER_STARTED] = "SCHEDULER_STARTED"  # it has another name, too
first_of: dict[str, str] = {}
heard = Condition()
released = Event()


def hear(event: SchedulerEvent) -> None:
    with heard:
        first_of.setdefault(NAMES[event.code], shown(event))
        heard.notify_all()


def shown(event: SchedulerEvent) -> str:
    if not isinstance(event, JobEvent):
        return f"{type(event).__name__} of {event.alias}"
    text = f"{type(event).__name__} of {event.job_id} in {event.jobstore}"
    if isinstance(event, JobSubmissionEvent):
        return f"{text}, {len(event.scheduled_run_times)} run time"
    if isinstance(event, JobExecutionEvent) and event.exception:
        return f"{text}, raised {type(event.exception).__name__}"
    return f"{text}, returned {event.retval}" if isinstance(event, JobExecutionEvent) else text


def wait_for(*names: str) -> None:
    with heard:
        assert heard.wait_for(lambda: all(name in first_of for name in names), 10)


if __name__ == "__main__":
    scheduler = BackgroundScheduler()
    scheduler.add_listener(hear)
    scheduler.start()
    scheduler.add_executor("threadpool", "extra", max_workers=1)
    scheduler.remove_executor("extra")
    scheduler.add_jobstore("memory", "extra")
    scheduler.remove_jobstore("extra")
    scheduler.pause()
    scheduler.resume()
    scheduler.add_job(sum, args=[[20, 22]], id="good", misfire_grace_time=None)
    wait_for("JOB_ADDED", "JOB_SUBMITTED", "JOB_EXECUTED", "JOB_REMOVED")
    scheduler.add_job(divmod, args=[84, 0], id="bad", misfire_grace_time=None)
    wait_for("JOB_ERROR")
    scheduler.add_job(print, "date", run_date="2009-11-06 16:30:05", id="late")
    wait_for("JOB_MISSED")
    scheduler.add_job(released.wait, "interval", [10], seconds=0.05, id="slow")
    wait_for("JOB_MAX_INSTANCES")
    scheduler.pause_job("slow")
    released.set()
    scheduler.remove_all_jobs("default")
    scheduler.shutdown()
    for name, text in sorted(first_of.items()):
        print(f"{name}: {text}")
