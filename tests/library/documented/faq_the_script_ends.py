"""A program that ends ends, with a scheduler in its background too: nothing keeps it alive.

Prints:
    the end
"""

from waterclock.schedulers.background import BackgroundScheduler


def my_job() -> None:
    print("hello")


if __name__ == "__main__":
    scheduler = BackgroundScheduler()
    scheduler.start()
    scheduler.add_job(my_job, "cron", year=2099)
    print("the end")
