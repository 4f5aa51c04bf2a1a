"""docs/scale.md with its tables as the code has them: `tools/scale` writes it, `tools/scale --check` only compares."""

import re
from collections.abc import Mapping
from typing import Final

from bench.harness import ROOT

PAGE: Final = ROOT / "docs" / "scale.md"
_BLOCK: Final = re.compile(r"<!-- table: (?P<name>\w+) -->\n.*?<!-- end -->", re.DOTALL)


def filled(page: str, tables: Mapping[str, str]) -> str:
    """The page with each table in its place; KeyError for one that the code does not know."""
    return _BLOCK.sub(lambda block: f"<!-- table: {block['name']} -->\n{tables[block['name']]}\n<!-- end -->", page)


def names_in(page: str) -> set[str]:
    return {block["name"] for block in _BLOCK.finditer(page)}
