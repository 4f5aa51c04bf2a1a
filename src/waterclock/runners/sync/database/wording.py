"""Statements that a database is asked, put together in one place: names in them are quoted, values are literals."""


def select(what: str, relation: str, *conditions: str, limit: int | None = None) -> str:
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    most = "" if limit is None else f" LIMIT {int(limit)}"
    return f"SELECT {what} FROM {relation}{where}{most}"  # noqa: S608


def row_of_nothing(what: str, relation: str) -> str:
    """Of `q`, which has the relation's columns: functions of their types can be asked, and no row is looked for."""
    return select(what, f"(SELECT 1 AS o) one LEFT JOIN ({select('*', relation, limit=0)}) q ON 1 = 1")
