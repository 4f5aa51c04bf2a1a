"""Plain pools of processes, 4 at once: threads that call `subprocess.run`, and asyncio's; results in memory."""

import asyncio
import sys
import time
from argparse import Namespace
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor

from bench.peers import measures, trivial


def threads(given: Namespace) -> Mapping[str, float]:
    with trivial.script() as script:
        began = time.perf_counter()
        with ThreadPoolExecutor(trivial.AT_ONCE) as pool:
            ended = list(pool.map(trivial.run, [str(script)] * given.count))
        seconds = time.perf_counter() - began
    trivial.check(ended, given.count)
    return {"runs_per_second": given.count / seconds}


def coroutines(given: Namespace) -> Mapping[str, float]:
    with trivial.script() as script:
        began = time.perf_counter()
        ended = asyncio.run(_all(str(script), given.count))
        seconds = time.perf_counter() - began
    trivial.check(ended, given.count)
    return {"runs_per_second": given.count / seconds}


async def _all(script: str, count: int) -> list[list[object]]:
    room = asyncio.Semaphore(trivial.AT_ONCE)

    async def one() -> list[object]:
        async with room:
            process = await asyncio.create_subprocess_exec(
                sys.executable, script, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
            )
            output, _ = await process.communicate()
            return [process.returncode, output.decode()]

    return list(await asyncio.gather(*(one() for _ in range(count))))


if __name__ == "__main__":
    measures.main({"threads": threads, "coroutines": coroutines})
