"""Another program on the same SQLite file: it takes the write lock again and again, at times longer than we wait."""

import random
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Final
from urllib.parse import urlsplit

LONGEST_SECONDS: Final = 1.5
TOO_LONG_SECONDS: Final = 4.5  # more than the stores' patience: SQLITE_BUSY reaches whoever asked
PAUSE_SECONDS: Final = 0.3


class Hog:
    def __init__(self, url: str, seed: int) -> None:
        self.held = 0
        self.held_too_long = 0
        self._path = urlsplit(url).path[1:]
        self._random = random.Random(seed)
        self._enough = threading.Event()

    def hold_on(self) -> None:
        with closing(sqlite3.connect(self._path, isolation_level=None, timeout=30)) as connection:
            while not self._enough.is_set():
                too_long = self.held % 6 == 5
                connection.execute("BEGIN IMMEDIATE")
                self._enough.wait(TOO_LONG_SECONDS if too_long else self._random.uniform(0.05, LONGEST_SECONDS))
                connection.execute("ROLLBACK")
                self.held += 1
                self.held_too_long += too_long
                self._enough.wait(PAUSE_SECONDS)

    def stop(self) -> None:
        self._enough.set()


@contextmanager
def sqlite_hog(url: str, *, seed: int) -> Iterator[Hog]:
    hog = Hog(url, seed)
    thread = threading.Thread(target=hog.hold_on, name="sqlite-hog")
    thread.start()
    try:
        yield hog
    finally:
        hog.stop()
        thread.join()
