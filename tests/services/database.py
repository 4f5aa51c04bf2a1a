"""A database server: hands out fresh, empty databases and drops them."""

import asyncio
import itertools
from abc import abstractmethod
from collections.abc import Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from tests.services.server import Server


class DatabaseServer(Server):
    """`url` names its standing database; `fresh_database()` gives one that nobody has written to."""

    def __init__(self, name: str, *, fsync: bool) -> None:
        super().__init__(name)
        self.fsync = fsync
        self._numbers = itertools.count(1)

    @abstractmethod
    def url_of(self, database: str) -> str: ...

    @abstractmethod
    async def execute(self, statement: str) -> None:
        """Run one statement as the administrator."""

    @abstractmethod
    def _drop_statement(self, database: str) -> str: ...

    @property
    def url(self) -> str:
        return self.url_of("waterclock")

    @contextmanager
    def fresh_database(self) -> Iterator[str]:
        """Its URL, inside the `with`; dropped at the end if the server still runs."""
        name = f"wc_{next(self._numbers)}"
        beside_any_loop(self.execute(f"CREATE DATABASE {name}"))
        try:
            yield self.url_of(name)
        finally:
            if self._process is not None and self._process.poll() is None:
                beside_any_loop(self.execute(self._drop_statement(name)))


def beside_any_loop(work: Coroutine[None, None, None]) -> None:
    """Run it to its end, also where the calling thread has a loop of its own."""
    with ThreadPoolExecutor(max_workers=1) as thread:
        thread.submit(asyncio.run, work).result()
