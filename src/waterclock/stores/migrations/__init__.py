"""Numbered steps from an empty database to the present schema; each is taken once, in order."""

import re
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Final

from waterclock.stores.dialect import Dialect, worded

BOOK: Final = """CREATE TABLE IF NOT EXISTS schema_migrations (
  version INTEGER NOT NULL PRIMARY KEY, name VARCHAR(255) NOT NULL, statements INTEGER NOT NULL)"""

_FILE: Final = re.compile(r"(\d{4})_(\w+)\.sql")
_MARK: Final = re.compile(r"@(\w+) ")


@dataclass(frozen=True, slots=True, kw_only=True)
class Migration:
    version: int
    name: str
    statements: tuple[str, ...]


def migrations(dialect: Dialect) -> tuple[Migration, ...]:
    return tuple(
        Migration(version=version, name=name, statements=_statements(dialect, text)) for version, name, text in _files()
    )


@cache
def _files() -> tuple[tuple[int, str, str], ...]:
    found = []
    for file in resources.files(__package__).iterdir():
        if match := _FILE.fullmatch(file.name):
            found.append((int(match[1]), match[2], file.read_text(encoding="utf-8")))
    return tuple(sorted(found))


def _statements(dialect: Dialect, text: str) -> tuple[str, ...]:
    kept = (_kept(dialect, line) for line in text.splitlines())
    whole = worded(dialect, "\n".join(line for line in kept if line is not None))
    return tuple(statement.strip() for statement in whole.split(";") if statement.strip())


def _kept(dialect: Dialect, line: str) -> str | None:
    """The line as this database gets it, or None: comments, and what is marked for another."""
    if line.startswith("--"):
        return None
    if mark := _MARK.match(line):
        return line[mark.end() :] if mark[1] in dialect.line_marks else None
    return line
