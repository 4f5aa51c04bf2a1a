"""The numbers of an API process, told to the others on its socket while it serves."""

import contextlib
from collections.abc import AsyncIterator
from typing import Final

from waterclock.engine.loop import Loop
from waterclock.faces.http.metrics import Metrics

REST_SECONDS: Final = 1.0


class Counting:
    name = "counting"

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics

    async def tick(self) -> float:
        self._metrics.tell()
        return REST_SECONDS


@contextlib.asynccontextmanager
async def counted(metrics: Metrics) -> AsyncIterator[None]:
    loop = Loop(Counting(metrics))
    loop.start()
    try:
        yield
    finally:
        await loop.stop()
        metrics.tell()
