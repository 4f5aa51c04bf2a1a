"""Numbered steps from an empty database to the present schema; each is taken once, in order.

Two versions may share a store while a cluster is upgraded, as long as they are one step apart: the newer takes the
step, the older goes on without knowing of it. So a step (from 0005 on) only adds, and what it adds has a default. Two
have code for PostgreSQL alone: 0008 puts tables into partitions, under their old names, and 0009 makes of an index a
table that the database keeps.
"""

import logging
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Final

import waterclock
from waterclock.domain.errors import NotAllowed
from waterclock.stores.dialect import Dialect, worded

log: Final = logging.getLogger("waterclock.stores")

BOOK: Final = """CREATE TABLE IF NOT EXISTS schema_migrations (
  version INTEGER NOT NULL PRIMARY KEY, name VARCHAR(255) NOT NULL, statements INTEGER NOT NULL)"""
TAKEN: Final = "SELECT version, name, statements FROM schema_migrations"
TOLERATED: Final = 1  # steps that a newer version may be ahead

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


def is_newer(taken: Mapping[int, str]) -> bool:
    """Whether the store, by its steps' numbers and names, is one step ahead of us; further ahead we must not go on.

    Then its views are the newer version's, too: ours are not put in their place.
    """
    last = max(version for version, _, _ in _files())
    ahead = [f"{version:04}_{taken[version]}" for version in sorted(taken) if version > last]
    if not ahead:
        return False
    if len(ahead) > TOLERATED:
        raise NotAllowed(
            f"this store was migrated by a newer waterclock (steps {', '.join(ahead)}); version "
            f"{waterclock.__version__} knows steps up to {last:04}, and works with a store that is one step ahead, not "
            f"{len(ahead)}: install the newer version here"
        )
    log.warning(
        "a newer waterclock has taken step %s of this store; version %s does not know it, and goes on without it: "
        "replace it soon",
        ahead[0],
        waterclock.__version__,
    )
    return True


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
