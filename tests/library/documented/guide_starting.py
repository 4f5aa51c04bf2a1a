"""A scheduler is started once, and its settings are fixed from then on.

Prints:
    stopped: Scheduler is not running
    running: True 1
    started again: Scheduler is already running
    configured: Scheduler is already running
    running: False 0
"""

from waterclock.schedulers import SchedulerAlreadyRunningError, SchedulerNotRunningError
from waterclock.schedulers.background import BackgroundScheduler

if __name__ == "__main__":
    scheduler = BackgroundScheduler()
    try:
        scheduler.shutdown()
    except SchedulerNotRunningError as error:
        print("stopped:", error)
    scheduler.start()
    print("running:", scheduler.running, scheduler.state)
    try:
        scheduler.start()
    except SchedulerAlreadyRunningError as error:
        print("started again:", error)
    try:
        scheduler.configure(timezone="UTC")
    except SchedulerAlreadyRunningError as error:
        print("configured:", error)
    scheduler.shutdown()
    print("running:", scheduler.running, scheduler.state)
