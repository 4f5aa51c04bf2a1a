"""docs/lake-sql.md, made of the corpus, the known differences and the pinned versions."""

import re
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Final

from tests.lake.corpus.known import known
from tests.lake.corpus.queries import Query, corpus

PROJECT: Final = Path(__file__).parents[3]
PAGE: Final = PROJECT / "docs/lake-sql.md"
LOCK: Final = PROJECT / "requirements/lake.txt"


def page() -> str:
    queries, different = corpus(), known()
    lines = [
        *_head(len(queries), len(different)),
        *("", "## Where they differ", "", "| query | Sail | Spark | reason |", "|---|---|---|---|"),
        *(_row(name, each["sail"], each["spark"], each["reason"]) for name, each in different.items()),
        *("", "## The queries"),
    ]
    for topic, members in groupby(queries, lambda query: query.topic):
        lines += ["", f"### {topic[0].upper()}{topic[1:]}", "", "```sql", *_listing(members), "```"]
    return "\n".join([*lines, ""])


def _head(count: int, different: int) -> Iterator[str]:
    sail, spark = _version("pysail"), _version("pyspark")
    yield "# The SQL of sql_job"
    yield ""
    yield (
        f"A `sql_job` is answered by Sail {sail} or by Spark {spark}, as the setting `sql.engine` says. The {count} "
        "queries below are run on both over the same files (Parquet, CSV and JSON); names, types and rows of the "
        f"answers are compared. {count - different} are answered alike; {different} are not, and are listed first. Of "
        "those only the columns and values that differ are shown, two at most."
    )
    yield ""
    yield (
        "This page is generated from `tests/lake/corpus`; `make test-heavy` fails where a difference appears, changes "
        "or disappears. To run the corpus alone, and to write this page anew:"
    )
    yield from ("", "```console", "$ .venv/bin/python -m tests.lake.corpus", "```")


def _row(name: str, *cells: str) -> str:
    return f"| `{name}` | " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _listing(queries: Iterator[Query]) -> Iterator[str]:
    for query in queries:
        yield f"{query.sql};  -- {query.name}"


def _version(name: str) -> str:
    found = re.search(rf"^{name}==(\S+)", LOCK.read_text(), re.MULTILINE)
    assert found, f"{name} is not in {LOCK}"
    return found[1]
