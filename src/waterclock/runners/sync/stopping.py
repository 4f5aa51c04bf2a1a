"""How a sync is stopped: between two batches at once; while it waits for its source by a second thread; never while it
puts rows in place, which must not be left half done.
"""

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final

STOPPED: Final = 128 + signal.SIGTERM
PATIENCE_SECONDS: Final = 1.0  # with a library that does not let go


class Stopping:
    """For the main thread of a process. `clean_up` is called once where that thread hangs in a source."""

    def __init__(self) -> None:
        self.clean_up: Callable[[], None] = lambda: None
        self._is_leaving = threading.Event()
        self._commits = False

    def listen(self) -> None:
        """From now on. Python's own handlers wait for the end of a call in C; a descriptor hears at once."""
        heard, heard_by = os.pipe()
        os.set_blocking(heard_by, False)
        signal.set_wakeup_fd(heard_by, warn_on_full_buffer=False)
        signal.signal(signal.SIGTERM, self._stop)
        threading.Thread(target=self._watch, args=(heard,), daemon=True, name="stop").start()

    @contextmanager
    def commits(self) -> Iterator[None]:
        """What is asked meanwhile comes too late: the rows are in place, and the run says so."""
        self._commits = True
        yield

    def _stop(self, number: int, frame: FrameType | None) -> None:
        if not self._commits and not self._is_leaving.is_set():
            self._is_leaving.set()
            raise SystemExit(STOPPED)

    def _watch(self, heard: int) -> None:
        while signal.SIGTERM not in os.read(heard, 64):
            pass
        if self._is_leaving.wait(PATIENCE_SECONDS) or self._commits:
            return
        try:
            self.clean_up()
        finally:
            os._exit(STOPPED)
