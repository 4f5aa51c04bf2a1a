"""What apprise says while it sends: it answers yes or no, and the reason stands in its log alone."""

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Final

TELLING: Final = ("Socket Exception", "Response Details")  # of what it says for debugging

_this_thread: Final = threading.local()


@contextmanager
def heard() -> Iterator[list[str]]:
    """Why it could not send, line by line, as far as this thread is concerned. They may hold secrets."""
    _listen()
    _this_thread.lines = lines = list[str]()
    try:
        yield lines
    finally:
        del _this_thread.lines


@cache
def _listen() -> None:
    """From now on its lines go nowhere else: they may hold addresses."""
    log = logging.getLogger("apprise")
    log.propagate = False
    log.setLevel(logging.DEBUG)
    log.addHandler(_Hearing())


class _Hearing(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        lines: list[str] | None = getattr(_this_thread, "lines", None)
        text = record.getMessage()
        if lines is not None and (record.levelno >= logging.WARNING or text.startswith(TELLING)):
            lines.append(" ".join(text.split()))
