"""The tables that people know from the seeds, as read-only views over the engine's own.

The views are written once, in `*.sql`; the words in which the databases differ are in `words.sql` of each dialect's
folder, and `{word …}` in a view stands for one of them.
"""

import hashlib
import re
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Final

from waterclock.stores.dialect import Dialect
from waterclock.stores.views.schedulerdb import DROP

_WORDS: Final = "words.sql"
_NAME: Final = re.compile(r"^-- name: (\w+)\s*$", re.MULTILINE)
_CALL: Final = re.compile(r"\{(\w+)(?: ([^{}]*))?\}")  # the innermost: its argument holds no other
_VIEW: Final = re.compile(r"CREATE VIEW (\w+) AS\s+(.*)", re.DOTALL)

# The seeds call Quartz's tables by two names.
QUARTZ: Final = "glue_qrtz_"
QUARTZ_TOO: Final = "glue_sch_qrtz_"


PRESENT: Final = "SELECT value FROM meta WHERE name = 'views'"


def refresh_views(dialect: Dialect, present: str | None = None) -> tuple[str, ...]:
    """The statements that make every view anew; none where `present`, what PRESENT answers, says that they are these.

    Whoever reads a view must not be disturbed by each start of each of our processes.
    """
    made = _made(dialect.name)
    digest = hashlib.sha256("\n".join(made.values()).encode()).hexdigest()
    if present == digest:
        return ()
    row = f"('views', '{digest}')"
    remember = ("DELETE FROM meta WHERE name = 'views'", f"INSERT INTO meta (name, value) VALUES {row}")  # noqa: S608
    if dialect.name == "mysql":  # no transaction around its DDL: at no moment is a view missing
        return (*(text.replace("CREATE VIEW", "CREATE OR REPLACE VIEW", 1) for text in made.values()), *remember)
    return (*drop_views(dialect), *made.values(), *remember)


def drop_views(dialect: Dialect) -> tuple[str, ...]:
    """For a migration that changes a column under a view: PostgreSQL and SQLite refuse it while the view is there."""
    above = (DROP,) if dialect.name == "postgres" else ()
    return (*above, *(f"DROP VIEW IF EXISTS {name}" for name in reversed(tuple(_made(dialect.name)))))


def view_names() -> tuple[str, ...]:
    return tuple(_made("sqlite"))


@cache
def _made(dialect: str) -> Mapping[str, str]:
    words = _words(dialect)
    views = {name: _spelled(query, words) for name, query in _queries().items()}
    also = {QUARTZ_TOO + name.removeprefix(QUARTZ): query for name, query in views.items() if name.startswith(QUARTZ)}
    return {name: _read_only(name, query) for name, query in (views | also).items()}


def _read_only(name: str, query: str) -> str:
    """Nothing can be written through a table in FROM that is itself a query; every optimiser merges it away again.

    A join or an outer join would do in PostgreSQL; MariaDB writes through both.
    """
    return f"CREATE VIEW {name} AS SELECT * FROM (\n{query}\n) read_only"  # noqa: S608 - our own text


def _queries() -> dict[str, str]:
    files = [file for file in resources.files(__package__).iterdir() if file.name.endswith(".sql")]
    texts = [file.read_text(encoding="utf-8") for file in sorted(files, key=lambda file: file.name)]
    statements = [statement for text in texts for statement in _split(text)]
    return {match[1]: match[2] for statement in statements if (match := _VIEW.fullmatch(statement))}


def _words(dialect: str) -> dict[str, str]:
    folder = resources.files(__package__)
    found: dict[str, str] = {}
    for file in (folder / _WORDS, folder / dialect / _WORDS):
        pieces = _NAME.split(file.read_text(encoding="utf-8"))[1:]
        found |= {name: _bare(body).strip() for name, body in zip(pieces[::2], pieces[1::2], strict=True)}
    return found


def _spelled(text: str, words: Mapping[str, str]) -> str:
    """With every word in place, from the inside out. `$1` is a word's argument; where `$2` is asked for, its last."""

    def spell(call: re.Match[str]) -> str:
        word, argument = words[call[1]], call[2] or ""
        if "$2" not in word:
            return word.replace("$1", argument)
        first, _, second = argument.rpartition(" ")
        return word.replace("$1", first).replace("$2", second)

    while _CALL.search(text):
        text = _CALL.sub(spell, text)
    return text


def _split(text: str) -> list[str]:
    return [statement.strip() for statement in _bare(text).split(";") if statement.strip()]


def _bare(text: str) -> str:
    return "\n".join(line for line in text.splitlines() if not line.startswith("--"))
