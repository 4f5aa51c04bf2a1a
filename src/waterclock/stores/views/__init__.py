"""The tables that people know from the seeds, as read-only views over the engine's own."""

import re
from functools import cache
from importlib import resources
from typing import Final

from waterclock.stores.dialect import Dialect, worded

_VIEW: Final = re.compile(r"CREATE VIEW (\w+)")


def refresh_views(dialect: Dialect) -> tuple[str, ...]:
    """The statements that drop and make every view anew: done at each migration, so they follow the schema."""
    made = tuple(statement for text in _texts(dialect.name) for statement in _split(worded(dialect, text)))
    names = [match[1] for statement in made if (match := _VIEW.match(statement))]
    return (*(f"DROP VIEW IF EXISTS {name}" for name in reversed(names)), *made)


@cache
def _texts(dialect: str) -> tuple[str, ...]:
    folder = resources.files(__package__)
    places = [folder, folder / dialect]
    files = [file for place in places if place.is_dir() for file in place.iterdir() if file.name.endswith(".sql")]
    return tuple(file.read_text(encoding="utf-8") for file in sorted(files, key=lambda file: file.name))


def _split(text: str) -> list[str]:
    lines = [line for line in text.splitlines() if not line.startswith("--")]
    return [statement.strip() for statement in "\n".join(lines).split(";") if statement.strip()]
