"""Somebody's own connection to a store: one that stays open, and says what was refused."""

import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

import asyncmy
import asyncpg

Answer = list[dict[str, Any]]


class Refused(Exception):
    """What the database says to a statement that it does not carry out."""


class Plain:
    """Somebody's own connection, in whichever database: column names in lower case, as PostgreSQL gives them."""

    async def columns(self, sql: str) -> tuple[str, ...]:
        raise NotImplementedError

    async def rows(self, sql: str) -> list[tuple[Any, ...]]:
        raise NotImplementedError

    async def ask(self, sql: str) -> Answer:
        names = [name.lower() for name in await self.columns(sql)]
        return [dict(zip(names, row, strict=True)) for row in await self.rows(sql)]

    def quoted(self, name: str) -> str:
        """A name that is a word of SQL as well."""
        return f'"{name}"'

    async def refusal(self, sql: str) -> str:
        """What the database says against it; nothing where it did what was asked."""
        try:
            await self.rows(sql)
        except Refused as refused:
            return str(refused)
        return ""


class PlainSqlite(Plain):
    def __init__(self, path: str) -> None:
        self.connection = sqlite3.connect(path, isolation_level=None)

    async def columns(self, sql: str) -> tuple[str, ...]:
        return tuple(column[0] for column in self.connection.execute(sql).description)

    async def rows(self, sql: str) -> list[tuple[Any, ...]]:
        try:
            return self.connection.execute(sql).fetchall()
        except sqlite3.Error as problem:
            raise Refused(str(problem)) from problem


class PlainPostgres(Plain):
    def __init__(self, connection: Any) -> None:
        self.connection = connection

    async def columns(self, sql: str) -> tuple[str, ...]:
        return tuple(attribute.name for attribute in (await self.connection.prepare(sql)).get_attributes())

    async def rows(self, sql: str) -> list[tuple[Any, ...]]:
        try:
            return [tuple(row) for row in await self.connection.fetch(sql)]
        except asyncpg.PostgresError as problem:
            raise Refused(str(problem)) from problem


class PlainMariadb(Plain):
    def __init__(self, connection: Any) -> None:
        self.connection = connection

    def quoted(self, name: str) -> str:
        return f"`{name}`"

    async def columns(self, sql: str) -> tuple[str, ...]:
        async with self.connection.cursor() as cursor:
            await cursor.execute(sql)
            return tuple(column[0] for column in cursor.description)

    async def rows(self, sql: str) -> list[tuple[Any, ...]]:
        async with self.connection.cursor() as cursor:
            try:
                await cursor.execute(sql)
            except asyncmy.errors.MySQLError as problem:
                raise Refused(str(problem)) from problem
            return list(await cursor.fetchall())


@asynccontextmanager
async def plain(url: str) -> AsyncIterator[Plain]:
    parts = urlsplit(url)
    if parts.scheme == "sqlite":
        sqlite = PlainSqlite(parts.path[1:])
        yield sqlite
        sqlite.connection.close()
    elif parts.scheme == "postgresql":
        connection = await asyncpg.connect(url, server_settings={"timezone": "UTC"})
        yield PlainPostgres(connection)
        await connection.close()
    else:
        where = {"host": parts.hostname, "port": parts.port, "user": parts.username, "password": parts.password}
        connection = await asyncmy.connect(
            **where, db=parts.path[1:], autocommit=True, init_command="SET time_zone = '+00:00'"
        )
        yield PlainMariadb(connection)
        await connection.ensure_closed()
