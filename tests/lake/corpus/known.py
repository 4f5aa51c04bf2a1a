"""The differences that we know of, with the reason of each: differences.json, which the page is made of."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from tests.lake.corpus.comparing import Difference

FILE: Final = Path(__file__).with_name("differences.json")
UNKNOWN: Final = ""  # the reason of a difference that nobody has looked into


def known() -> Mapping[str, Mapping[str, str]]:
    """By the query's name: reason, sail, spark."""
    found: Mapping[str, Mapping[str, str]] = json.loads(FILE.read_text(encoding="utf-8"))
    return found


def with_reasons(found: Sequence[Difference]) -> Mapping[str, Mapping[str, str]]:
    """As they are now; a reason that was given for a query is kept."""
    reasons = {name: each["reason"] for name, each in known().items()}
    return {
        each.query: {"reason": reasons.get(each.query, UNKNOWN), "sail": each.sail, "spark": each.spark}
        for each in found
    }


def write(found: Sequence[Difference]) -> None:
    FILE.write_text(json.dumps(with_reasons(found), ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
