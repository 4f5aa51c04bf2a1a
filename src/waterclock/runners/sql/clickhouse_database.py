"""A database of a ClickHouse server: which tables it has, and what they are."""

import json
from contextlib import suppress
from typing import Final

from waterclock.runners.sql.clickhouse_columns import Column
from waterclock.runners.sql.clickhouse_server import Refused, Server, identifier, literal
from waterclock.runners.sql.clickhouse_types import MAYBE_KNOWN

_EXISTS_ALREADY: Final = 57


class Database:
    def __init__(self, server: Server, name: str) -> None:
        self._server, self.name = server, name

    def named(self, table: str) -> str:
        """In a statement."""
        return f"{identifier(self.name)}.{identifier(table)}"

    def engine(self) -> str:
        """Nothing where there is no such database."""
        found = self._server.rows(f"SELECT engine FROM system.databases WHERE name = {literal(self.name)}")  # noqa: S608
        return found[0][0] if found else ""

    def tables(self, begin: str) -> list[str]:
        return [name for [name] in self.ask_tables("name", f"name LIKE {literal(begin + '%')}")]

    def exists(self, table: str) -> bool:
        return bool(self.ask_tables("name", f"name = {literal(table)}"))

    def ask_tables(self, column: str, condition: str) -> list[list[str]]:
        database = literal(self.name)
        return self._server.rows(f"SELECT {column} FROM system.tables WHERE database = {database} AND {condition}")  # noqa: S608

    def described(self, table: str) -> list[Column]:
        """No columns where there is no such table."""
        if not self.exists(table):
            return []
        rows = self._server.ask(f"DESCRIBE TABLE {self.named(table)} FORMAT JSONCompact")
        return [Column(name=name, type=kind, default=default) for name, kind, default, *_ in json.loads(rows)["data"]]

    def known_types(self) -> frozenset[str]:
        names = ", ".join(map(literal, MAYBE_KNOWN))
        asked = f"SELECT name FROM system.data_type_families WHERE name IN ({names})"  # noqa: S608
        return frozenset(name for [name] in self._server.rows(asked))

    def rename(self, *pairs: tuple[str, str]) -> bool:
        """False where a name is taken."""
        renames = ", ".join(f"{self.named(name)} TO {self.named(to)}" for name, to in pairs)
        try:
            self._server.ask(f"RENAME TABLE {renames}")
        except Refused as refused:
            if refused.code == _EXISTS_ALREADY:
                return False
            raise
        return True

    def drop(self, table: str) -> None:
        """A server may refuse to drop a large one (max_table_size_to_drop): then it stays until an admin does."""
        with suppress(Refused):
            self._server.ask(f"DROP TABLE IF EXISTS {self.named(table)}")
