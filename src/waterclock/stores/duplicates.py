"""A name that is taken, as the database says it: two callers raced, and the other one was first."""

from typing import Final

from waterclock.domain.errors import AlreadyExists
from waterclock.stores.base import Values

# Which value a person would call its name.
_NAMED: Final = ("account", "name", "wire_id", "fire_at", "id")


def duplicate(statement: str, values: Values | None) -> AlreadyExists:
    kind = statement.removeprefix("insert_").replace("_", " ")
    known = values or {}
    return AlreadyExists(kind, next((known[name] for name in _NAMED if name in known), "?"))
