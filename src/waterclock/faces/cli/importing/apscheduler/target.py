"""The set of jobs that an import writes to: a store of the library, and a name in it."""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from waterclock.domain.errors import AlreadyExists, CommitUnknown
from waterclock.domain.library import LibraryJob
from waterclock.faces.cli.failure import Failure
from waterclock.faces.cli.importing.apscheduler.place import Place
from waterclock.faces.cli.importing.apscheduler.selecting import NoTable, select
from waterclock.jobstores.sql import namespace_of
from waterclock.stores.opening import database_from_url
from waterclock.stores.ops.library import add_library_jobs, library_jobs

STEPS: Final = "SELECT version FROM schema_migrations"
WITH_LIBRARY: Final = 4  # the step of the schema since when there are jobs of the library


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    place: Place
    table: str

    def __str__(self) -> str:
        return f"{self.table} in the store at {self.place}"

    @property
    def namespace(self) -> str:
        return namespace_of(self.table)

    def here(self) -> Mapping[str, LibraryJob]:
        """By their ids. Nothing is made: a store that is not there yet has none."""
        return asyncio.run(self._here()) if self._is_there() else {}

    def write(self, jobs: Sequence[LibraryJob], replace: Collection[str]) -> None:
        """All of them, in one transaction, or none; the store is made where it is not there yet."""
        try:
            asyncio.run(self._write(jobs, replace))
        except AlreadyExists as taken:
            raise Failure(f"{taken}: it was added in the meantime; nothing was written, repeat the import") from None
        except CommitUnknown as lost:
            raise Failure(f"{lost}; repeat the import, which finds what was written") from None

    def _is_there(self) -> bool:
        if self.place.kind == "sqlite" and not self.place.path.is_file():
            return False
        try:
            return (WITH_LIBRARY,) in [tuple(row) for row in select(self.place, STEPS)]
        except NoTable:
            return False

    async def _here(self) -> Mapping[str, LibraryJob]:
        database = database_from_url(self.place.url)
        await database.open()
        try:
            found = await database.read(library_jobs, namespace=self.namespace)
        finally:
            await database.close()
        return {stored.job.name: stored.job for stored in found}

    async def _write(self, jobs: Sequence[LibraryJob], replace: Collection[str]) -> None:
        database = database_from_url(self.place.url)
        await database.open()
        try:
            await database.migrate()
            await database.write(add_library_jobs, namespace=self.namespace, jobs=jobs, replace=replace)
        finally:
            await database.close()
