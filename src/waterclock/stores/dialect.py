"""SQL by name: one text for all databases, and the few words in which they differ.

A list that can be sorted has lines `-- order word: expression` (which may go on in lines `--   …`), with `word?` where
the expression may be NULL. These words, and no others, can be asked for; its own ORDER BY comes after them.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Final

_NAME: Final = re.compile(r"^-- name: (\w+)\s*$", re.MULTILINE)
_ORDER: Final = re.compile(r"^-- order (\w+)(\??): (.+(?:\n--   .+)*)$", re.MULTILINE)
_BY: Final = " by "
_FIRST, _LAST = "-1", "9223372036854775807"  # before and after every time

MOST_KEPT: Final = 4_096  # texts: callers may ask for one list in many orders
PARAMETER: Final = re.compile(r"(?<![:\w]):([a-z_]+)\b")
IN_LIST: Final = re.compile(r"\bIN :([a-z_]+)\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """What truly differs between the databases, beside the statements in a dialect's own folder."""

    name: str
    words: Mapping[str, str]  # {text}, {auto}, {lock}, {skip_locked}, …
    line_marks: frozenset[str]  # which @mark lines of a migration are for this database


SQLITE: Final = Dialect(
    name="sqlite",
    words={
        "text": "TEXT",
        "auto": "INTEGER PRIMARY KEY AUTOINCREMENT",
        "lock": "",
        "share": "",
        "materialized": "MATERIALIZED",
        "skip_locked": "",
    },
    line_marks=frozenset({"partial", "sqlite"}),
)

POSTGRES: Final = Dialect(
    name="postgres",
    words={
        "text": "TEXT",
        "auto": "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
        "lock": "FOR UPDATE",
        "share": "FOR SHARE",
        "materialized": "MATERIALIZED",
        "skip_locked": "FOR UPDATE SKIP LOCKED",
    },
    line_marks=frozenset({"partial", "postgres", "server"}),
)

MYSQL: Final = Dialect(
    name="mysql",
    words={
        "text": "LONGTEXT",
        "auto": "BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY",
        "lock": "FOR UPDATE",
        "share": "LOCK IN SHARE MODE",  # MariaDB knows no FOR SHARE
        "materialized": "",
        "skip_locked": "FOR UPDATE SKIP LOCKED",
    },
    line_marks=frozenset({"mysql", "server"}),
)


@cache
def statements(dialect: str) -> Mapping[str, str]:
    """Every named statement: the common text, replaced by the dialect's own where it has one."""
    return {name: _bare(body) for name, body in _bodies(dialect).items()}


def sorted_by(name: str, words: Sequence[tuple[str, bool]]) -> str:
    """The name of a statement that is sorted by these words first; True: descending."""
    return f"{name}{_BY}{' '.join(f'{word}-' if down else word for word, down in words)}" if words else name


def statement(dialect: str, name: str) -> str:
    """The text of one, also of one that is sorted in another way. What is NULL comes last, up or down."""
    plain, _, words = name.partition(_BY)
    text = statements(dialect)[plain]
    if not words:
        return text
    known = {word: (expression, bool(mark)) for word, mark, expression in _ORDER.findall(_bodies(dialect)[plain])}
    chosen = [_key(*known[word.removesuffix("-")], down=word.endswith("-")) for word in words.split()]
    head, by, tail = text.rpartition("ORDER BY ")
    return f"{head}{by}{', '.join(chosen)}, {tail}"


def _key(expression: str, may_be_null: bool, *, down: bool) -> str:
    expression = expression.replace("\n--  ", "")
    if may_be_null:
        expression = f"COALESCE({expression}, {_FIRST if down else _LAST})"
    return f"{expression} DESC" if down else expression


@cache
def _bodies(dialect: str) -> Mapping[str, str]:
    """With their comments."""
    folder = resources.files(__package__) / "sql"
    found: dict[str, str] = {}
    for place in (folder, folder / dialect):
        if place.is_dir():
            for file in sorted(place.iterdir(), key=lambda entry: entry.name):
                if file.name.endswith(".sql"):
                    found.update(_split(file.read_text(encoding="utf-8")))
    return found


def _split(text: str) -> dict[str, str]:
    pieces = _NAME.split(text)[1:]
    return dict(zip(pieces[::2], pieces[1::2], strict=True))


def _bare(body: str) -> str:
    """Without its comments: they may speak of `:limit` too."""
    return "\n".join(line for line in body.splitlines() if not line.startswith("--")).strip().rstrip(";")


def worded(dialect: Dialect, sql: str) -> str:
    """The text with the dialect's words in place of {their names}."""
    for word, meaning in dialect.words.items():
        sql = sql.replace("{" + word + "}", meaning)
    return sql


def parameters(sql: str) -> list[str]:
    """The names of the parameters, in their order, each as often as it stands there."""
    return [match[1] for match in PARAMETER.finditer(sql)]


def list_parameters(sql: str) -> frozenset[str]:
    """The names that stand for a list: `IN :ids`."""
    return frozenset(match[1] for match in IN_LIST.finditer(sql))
