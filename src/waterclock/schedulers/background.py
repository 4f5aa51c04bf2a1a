"""A scheduler in the background: `start` returns at once."""

from __future__ import annotations

from typing import Any

from waterclock.schedulers.base import BaseScheduler
from waterclock.schedulers.blocking import BlockingScheduler


class BackgroundScheduler(BlockingScheduler):
    """For programs that do something else, too: a web application, say."""

    def start(self, *args: Any, **kwargs: Any) -> None:
        BaseScheduler.start(self, *args, **kwargs)

    def shutdown(self, *args: Any, **kwargs: Any) -> None:
        BaseScheduler.shutdown(self, *args, **kwargs)
