"""Threads for a log store that may be slow: nobody who waits for something else stands in their queue."""

import asyncio
import functools
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

COUNT: Final = 8


class LogThreads:
    def __init__(self, count: int = COUNT) -> None:
        self._pool = ThreadPoolExecutor(count, thread_name_prefix="logs")

    async def run(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        call = functools.partial(work, *args, **kwargs)
        return await asyncio.get_running_loop().run_in_executor(self._pool, call)
