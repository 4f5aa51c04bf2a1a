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
            yield f"{page.relative_to(PROJECT)}: {path}#{anchor}".rstrip("#")


def test_links_between_pages_lead_somewhere() -> None:
    assert [wrong for page in pages() for wrong in astray(page)] == []


def test_a_link_that_leads_nowhere_is_seen(tmp_path: Path) -> None:
    assert LINK.findall("[a](b.md#c) [d](e.md) [f](#g) [h](mailto:i)") == [("b.md", "c"), ("e.md", ""), ("", "g")]
    (tmp_path / "page.md").write_text("# What limits `it` (2026)\n")
    assert anchors(tmp_path / "page.md") == {"what-limits-it-2026"}
