"""Why a database gave no rows, in words for the one who named it; never with its password."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from waterclock.runners.sync.source import SourceFailed

_LONGEST: Final = 600
_CLASS: Final = re.compile(r"^(?:[A-Z]\w+ )*Error: ")
_AROUND: Final = (
    re.compile(r"^Attempting to execute an unsuccessful or closed pending query result\s*Error: "),
    re.compile(r'^Unable to connect to Postgres at "[^"]*": '),
    re.compile(r'^Failed to connect to MySQL database with parameters ".*?": (?=[A-Z])'),
    re.compile(r'^Failed to (?:prepare|execute|fetch)[^"]*"(?:.|\n)*?":(?: (?=[A-Z])|$)'),
    re.compile(r"^Failed to \w[\w ]* for COPY: "),
    re.compile(r"^(?:ERROR|FATAL):\s+"),
)
_AFTER: Final = re.compile(
    r"(?:\n\s*(?:Did you mean|LINE 1: |Set pg_|Is the server running)(?:.|\n)*|\. Attempted host: .*)$"
)
_REASONS: Final = (
    (
        re.compile(r"password authentication failed|Access denied for user|no password supplied"),
        "the user or the password is wrong",
    ),
    (re.compile(r"database .* does not exist|Unknown database"), "there is no such database"),
    (
        re.compile(r"relation .* does not exist|Table .* doesn't exist|no such table|does not exist!"),
        "there is no such table",
    ),
    (re.compile(r"Expected an array with"), "an array of arrays, which to_jsonb(…)::text in a query makes a text"),
    (re.compile(r"column .* does not exist|Unknown column|no such column"), "there is no such column"),
    (
        re.compile(
            r"Connection refused|Can't connect|could not translate host|Network is unreachable|No route to host|"
            r"timeout expired|timed out|Unknown server host|Name or service not known"
        ),
        "it cannot be reached",
    ),
    (
        re.compile(
            r"terminating connection|server closed the connection|Lost connection|gone away|Connection reset|"
            r"could not receive data|SSL connection has been closed|SSL SYSCALL|no connection to the server|"
            r"Interrupted!|^$"
        ),
        "the connection was lost",
    ),
)


@contextmanager
def said_of(where: str, *hidden: str) -> Iterator[None]:
    """Whatever DuckDB or Arrow raises inside is a SourceFailed about `where`; `hidden` is never in it."""
    import duckdb
    import pyarrow as pa

    try:
        yield
    except (duckdb.Error, pa.ArrowException, OSError, UnicodeError, OverflowError) as problem:
        raise SourceFailed(in_words(where, str(problem), *hidden)) from None


def in_words(where: str, text: str, *hidden: str) -> str:
    words = _hiding(_without_frame(text), hidden)
    reason = next((reason for pattern, reason in _REASONS if pattern.search(words)), "")
    return ": ".join(part for part in (where, reason, words) if part)


def _hiding(words: str, hidden: Sequence[str]) -> str:
    """DuckDB keeps secrets to itself; a server might not."""
    for each in filter(None, hidden):
        words = re.sub(rf"(?<!\w){re.escape(each)}(?!\w)", "***", words)
    return words


def _without_frame(text: str) -> str:
    """Without what DuckDB and its extensions say around it, our own statements among them."""
    words = _AFTER.sub("", _CLASS.sub("", text.strip())).strip()
    for pattern in _AROUND:
        words = _CLASS.sub("", pattern.sub("", words, count=1)).strip()
    return words[:_LONGEST]
