"""Why an engine has no rows, in words for the one who wrote the query."""

import re
from typing import Final

from waterclock.runners.sql.engine import QueryFailed, TableMissing
from waterclock.runners.sql.words import LONGEST_TEXT, first_line

_SPAN: Final = re.compile(r"\bat (\d+):\d+\b")  # Sail's: from which character of the query to which
_MISSING: Final = (
    re.compile(r"Table or view not found: (\S+)"),  # Sail
    re.compile(r"The table or view (`.+?`) cannot be found"),  # Spark
)
_PREFIX: Final = re.compile(r"^(invalid argument|Table not found): ")


def in_words(what: str, text: str, query: str) -> QueryFailed:
    """`what` failed, and this is all that the engine said of it."""
    for pattern in _MISSING:
        if found := pattern.search(text):
            return TableMissing(found.group(1).replace("`", ""), text[:LONGEST_TEXT])
    if "S3AFileSystem not found" in text:
        return QueryFailed(
            f"{what}: this Spark cannot read s3://: it has no hadoop-aws among its jars", text[:LONGEST_TEXT]
        )
    line = _SPAN.sub(lambda found: f"at {_position(query, int(found.group(1)))}", _PREFIX.sub("", first_line(text)))
    return QueryFailed(f"{what}: {line}", text[:LONGEST_TEXT])


def _position(query: str, offset: int) -> str:
    before = query[:offset]
    return f"line {before.count(chr(10)) + 1}, position {offset - before.rfind(chr(10))}"
