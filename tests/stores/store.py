"""One store under test: its URL, and as many `Database` objects on it as a test wants."""

from collections.abc import Sequence

from tests.stores.raw import Rows, rows
from waterclock.stores import Database, database_from_url


class Store:
    def __init__(self, kind: str, url: str) -> None:
        self.kind = kind
        self.url = url
        self._open: list[Database] = []

    async def open(self) -> Database:
        """Another one, as another process would have; closed at the end of the test."""
        database = database_from_url(self.url)
        await database.open()
        self._open.append(database)
        return database

    async def open_many(self, count: int) -> Sequence[Database]:
        return [await self.open() for _ in range(count)]

    async def rows(self, *statements: str) -> Rows:
        return await rows(self.url, *statements)

    async def close(self) -> None:
        for database in self._open:
            await database.close()
