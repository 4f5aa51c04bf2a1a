"""A scheduler may start paused, so that unwanted jobs can be removed first; paused, it runs nothing.

Prints:
    paused: 2
    resumed: 1
    wanted ran
    paused again: 2
    ran while paused: 0
    wanted ran after it was resumed
"""

from queue import Queue

from waterclock.schedulers.background import BackgroundScheduler
from waterclock.schedulers.base import STATE_PAUSED, STATE_RUNNING

ran, beats = Queue[str](), Queue[str]()


def drained() -> int:
    count = ran.qsize()
    for _ in range(count):
        ran.get()
    return count


def wait_for_beats(count: int) -> None:
    """Another scheduler, which is not paused, says that time passes."""
    for _ in range(count):
        beats.get(timeout=10)


if __name__ == "__main__":
    other = BackgroundScheduler()
    other.add_job(beats.put, "interval", ["beat"], seconds=0.05)
    other.start()
    scheduler = BackgroundScheduler()
    scheduler.add_job(ran.put, "interval", ["wanted"], seconds=0.05)
    scheduler.add_job(ran.put, "interval", ["unwanted"], seconds=0.05, id="unwanted")
    scheduler.start(paused=True)
    print("paused:", scheduler.state)
    scheduler.remove_job("unwanted")
    scheduler.resume()
    print("resumed:", scheduler.state)
    print(ran.get(timeout=10), "ran")
    scheduler.pause()
    print("paused again:", scheduler.state)
    assert scheduler.state == STATE_PAUSED
    wait_for_beats(beats.qsize() + 2)
    drained()  # what had begun before the pause
    wait_for_beats(beats.qsize() + 4)
    print("ran while paused:", drained())
    scheduler.resume()
    assert scheduler.state == STATE_RUNNING
    print(ran.get(timeout=10), "ran after it was resumed")
    scheduler.shutdown()
    other.shutdown()
