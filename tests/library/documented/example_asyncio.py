"""A function and a coroutine function every tenth of a second beside other tasks of an event loop, until Ctrl-C."""

import asyncio
from datetime import UTC, datetime

from waterclock.schedulers.asyncio import AsyncIOScheduler


def tick() -> None:
    print(f"Tick! The time is: {datetime.now(UTC)}", flush=True)


async def tock(loop: asyncio.AbstractEventLoop) -> None:
    await asyncio.sleep(0)
    print(f"Tock! In the loop of the program: {asyncio.get_running_loop() is loop}", flush=True)


async def main() -> None:
    scheduler = AsyncIOScheduler()
    scheduler.add_job(tick, "interval", seconds=0.1)
    scheduler.add_job(tock, "interval", [asyncio.get_running_loop()], seconds=0.1)
    scheduler.start()
    print("Press Ctrl+C to exit", flush=True)
    while True:
        await asyncio.sleep(1000)


if __name__ == "__main__":
    try:
        asyncio.run(main())
    except (KeyboardInterrupt, SystemExit):
        print("Bye")
