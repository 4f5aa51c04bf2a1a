"""A job is added by a call or by a decorator, before the start or after it; without a trigger it runs at once.

Prints:
    pending before the start: True
    pending after the start: False
    added while running
    decorated
    hello, world
"""

from queue import Queue

from waterclock.schedulers.background import BackgroundScheduler

said = Queue[str]()
scheduler = BackgroundScheduler(timezone="UTC")


def greet(greeting: str, name: str = "nobody") -> None:
    said.put(f"{greeting}, {name}")


@scheduler.scheduled_job("interval", id="my_job_id", seconds=0.05)
def tick() -> None:
    said.put("decorated")


if __name__ == "__main__":
    job = scheduler.add_job(greet, args=["hello"], kwargs={"name": "world"}, misfire_grace_time=None)
    print("pending before the start:", job.pending)
    scheduler.start()
    print("pending after the start:", job.pending)
    scheduler.add_job(said.put, args=["added while running"], misfire_grace_time=None)
    heard = set[str]()
    while len(heard) < 3:
        heard.add(said.get(timeout=10))
    print(*sorted(heard), sep="\n")
    scheduler.shutdown()
