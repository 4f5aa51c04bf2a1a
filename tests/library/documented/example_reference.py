"""A job whose function is named by a text, until Ctrl-C."""

from waterclock.schedulers.blocking import BlockingScheduler

if __name__ == "__main__":
    scheduler = BlockingScheduler()
    scheduler.add_job("sys:stdout.write", "interval", seconds=0.1, args=["Tick!\n"])
    print("Press Ctrl+C to exit", flush=True)
    try:
        scheduler.start()
    except (KeyboardInterrupt, SystemExit):
        print("Bye")
