"""Every link from one of our pages to another leads somewhere, to the very heading that it names."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tests.architecture.sources import PROJECT

WHERE: Final = (".", "bench", "bench/results", "docs", "docs/decisions")
LINK: Final = re.compile(r"\]\((?![a-z]+:)([^)#\s]*)(?:#([^)\s]+))?\)")


def pages() -> Iterator[Path]:
    for folder in WHERE:
        yield from sorted((PROJECT / folder).glob("*.md"))


def anchors(page: Path) -> set[str]:
    """As the usual viewers make them of headings: small letters, digits, dashes."""
    headings = (line.lstrip("#").strip().lower() for line in page.read_text().splitlines() if line.startswith("#"))
    return {re.sub(r"[^\w\- ]", "", heading).replace(" ", "-") for heading in headings}


def astray(page: Path) -> Iterator[str]:
    for path, anchor in LINK.findall(page.read_text()):
        target = page.parent / path if path else page
        if not target.exists() or (anchor and target.suffix == ".md" and anchor not in anchors(target)):
            yield f"{path}#{anchor}".rstrip("#")


def test_links_between_pages_lead_somewhere() -> None:
    assert {page: wrong for page in pages() if (wrong := list(astray(page)))} == {}


def test_a_link_that_leads_nowhere_is_seen(tmp_path: Path) -> None:
    (tmp_path / "there.md").write_text("# What limits `it` (2026)\n")
    page = tmp_path / "page.md"
    page.write_text("[a](there.md#what-limits-it-2026) [b](there.md#gone) [c](gone.md) [d](#gone) [e](mailto:f)\n")
    assert list(astray(page)) == ["there.md#gone", "gone.md", "#gone"]
