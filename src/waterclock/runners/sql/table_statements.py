"""The statements by which rows go from a table aside to the one that they are for; every name is quoted."""

from collections.abc import Iterable, Sequence

from waterclock.runners.sql.evolving import TableColumn


def quoted(name: str) -> str:
    """In double quotes: whatever it holds, it is one name."""
    return '"' + name.replace('"', '""') + '"'


class Statements:
    """As PostgreSQL and DuckDB have them. `row`: the column that tells which row came last."""

    def __init__(self, row: str) -> None:
        self._row = row
        self._last_row = self.name(".waterclock-last")

    def name(self, name: str) -> str:
        return quoted(name)

    def add(self, table: str, new: str, columns: Sequence[TableColumn]) -> str:
        names = self.listed(columns)
        return f"INSERT INTO {table} ({names}) SELECT {names} FROM {new}"  # noqa: S608

    def update(self, table: str, new: str, columns: Sequence[TableColumn], keys: Sequence[str]) -> str:
        """Nothing where a row is nothing but its key."""
        given = [self.name(column.name) for column in columns if column.name not in keys]
        assigned = ", ".join(f"{name} = a.{name}" for name in given)
        return f"UPDATE {table} AS t SET {assigned} FROM {new} AS a WHERE {self.same('t', 'a', keys)}" if given else ""  # noqa: S608

    def add_missing(self, table: str, new: str, columns: Sequence[TableColumn], keys: Sequence[str]) -> str:
        names = self.listed(columns)
        there = f"SELECT 1 FROM {table} AS t WHERE {self.same('t', 'a', keys)}"  # noqa: S608
        return f"INSERT INTO {table} ({names}) SELECT {names} FROM {new} AS a WHERE NOT EXISTS ({there})"  # noqa: S608

    def keep_last(self, new: str, keys: Sequence[str]) -> str:
        return f"DELETE FROM {new} AS a USING ({self._last(new, keys)}) AS l WHERE {self._earlier(keys)}"  # noqa: S608

    def listed(self, columns: Iterable[TableColumn]) -> str:
        return ", ".join(self.name(column.name) for column in columns)

    def same(self, one: str, other: str, keys: Sequence[str]) -> str:
        return " AND ".join(f"{one}.{self.name(key)} = {other}.{self.name(key)}" for key in keys)

    def _last(self, new: str, keys: Sequence[str]) -> str:
        names = ", ".join(map(self.name, keys))
        return f"SELECT {names}, max({self._row}) AS {self._last_row} FROM {new} GROUP BY {names} HAVING count(*) > 1"  # noqa: S608

    def _earlier(self, keys: Sequence[str]) -> str:
        return f"{self.same('a', 'l', keys)} AND a.{self._row} < l.{self._last_row}"


class MysqlStatements(Statements):
    def name(self, name: str) -> str:
        return "`" + name.replace("`", "``") + "`"

    def update(self, table: str, new: str, columns: Sequence[TableColumn], keys: Sequence[str]) -> str:
        given = [self.name(column.name) for column in columns if column.name not in keys]
        assigned = ", ".join(f"t.{name} = a.{name}" for name in given)
        return f"UPDATE {table} AS t JOIN {new} AS a ON {self.same('t', 'a', keys)} SET {assigned}" if given else ""  # noqa: S608

    def forget_known(self, table: str, new: str, keys: Sequence[str]) -> str:
        """So that the rest can be added: a row that is not there is found slowly where the table has no index."""
        return f"DELETE a FROM {new} AS a JOIN {table} AS t ON {self.same('t', 'a', keys)}"

    def keep_last(self, new: str, keys: Sequence[str]) -> str:
        return f"DELETE a FROM {new} AS a JOIN ({self._last(new, keys)}) AS l ON {self._earlier(keys)}"
