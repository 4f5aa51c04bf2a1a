"""A listener hears the events it asks for: here how each run of a job ended.

Prints:
    bad: The job crashed :( ZeroDivisionError('integer division or modulo by zero')
    good: The job worked :) 42
    nothing after the listener was removed
"""

from queue import Queue
from threading import Event

from waterclock.events import EVENT_JOB_ERROR, EVENT_JOB_EXECUTED, JobExecutionEvent
from waterclock.schedulers.background import BackgroundScheduler

heard = Queue[str]()


def divide(number: int, by: int) -> int:
    return number // by


def my_listener(event: JobExecutionEvent) -> None:
    if event.exception:
        assert "number // by" in str(event.traceback)
        heard.put(f"{event.job_id}: The job crashed :( {event.exception!r}")
    else:
        heard.put(f"{event.job_id}: The job worked :) {event.retval}")


if __name__ == "__main__":
    scheduler = BackgroundScheduler()
    scheduler.add_listener(my_listener, EVENT_JOB_EXECUTED | EVENT_JOB_ERROR)
    scheduler.add_job(divide, args=[84, 2], id="good", misfire_grace_time=None)
    scheduler.add_job(divide, args=[84, 0], id="bad", misfire_grace_time=None)
    scheduler.start()
    print(*sorted(heard.get(timeout=10) for _ in range(2)), sep="\n")
    scheduler.remove_listener(my_listener)
    ended = Event()
    scheduler.add_listener(lambda event: ended.set(), EVENT_JOB_EXECUTED)
    scheduler.add_job(divide, args=[84, 2], misfire_grace_time=None)
    assert ended.wait(10)
    scheduler.shutdown()
    print("nothing after the listener was removed" if heard.empty() else heard.get())
