"""How a service gives its records in pages: what is asked for first, and after each page what is asked for next.

A page that has fewer records than were asked for is no last page: services cut what they are asked for. So pages that
are counted end with an empty one, or where the service says that there is no more (`has_more`).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from waterclock.runners.sync.service.given import Given
from waterclock.runners.sync.service.path import JsonPath, path_of
from waterclock.runners.sync.source import SourceFailed

MOST_PAGES: Final = 10_000
STYLES: Final = ("none", "page", "offset", "cursor", "link_header", "next_url")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """What is added to the job's own request; an address that the service gave stands for all of it."""

    params: Mapping[str, Any] = field(default_factory=dict)
    url: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """Of a page: what decides about the next one."""

    page: Any
    records: int
    next_url: str | None  # of its Link header


class Style(Protocol):
    def first(self) -> Ask: ...

    def after(self, ask: Ask, seen: Seen) -> Ask | None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class OnePage:
    def first(self) -> Ask:
        return Ask()

    def after(self, ask: Ask, seen: Seen) -> Ask | None:
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Numbered:
    param: str
    start: int
    more: Mapping[str, Any]  # the size

    def first(self) -> Ask:
        return Ask(params={**self.more, self.param: self.start})

    def after(self, ask: Ask, seen: Seen) -> Ask | None:
        return Ask(params={**ask.params, self.param: ask.params[self.param] + 1}) if seen.records else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Offset:
    """Goes on by what came, not by what was asked for."""

    param: str
    start: int
    more: Mapping[str, Any]  # the limit

    def first(self) -> Ask:
        return Ask(params={**self.more, self.param: self.start})

    def after(self, ask: Ask, seen: Seen) -> Ask | None:
        return Ask(params={**ask.params, self.param: ask.params[self.param] + seen.records}) if seen.records else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Cursor:
    param: str
    path: JsonPath
    more: Mapping[str, Any]  # the size

    def first(self) -> Ask:
        return Ask(params=self.more)

    def after(self, ask: Ask, seen: Seen) -> Ask | None:
        cursor = self.path.value(seen.page)
        if cursor is None or cursor is False or cursor == "":
            return None
        if not isinstance(cursor, str | int | float) or isinstance(cursor, bool):
            raise SourceFailed(f"paging.path {self.path.text} leads to what is no cursor: a text or a number is one")
        return Ask(params={**self.more, self.param: cursor})


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkHeader:
    more: Mapping[str, Any]

    def first(self) -> Ask:
        return Ask(params=self.more)

    def after(self, ask: Ask, seen: Seen) -> Ask | None:
        return Ask(url=seen.next_url) if seen.next_url else None


@dataclass(frozen=True, slots=True, kw_only=True)
class NextUrl:
    path: JsonPath
    more: Mapping[str, Any]

    def first(self) -> Ask:
        return Ask(params=self.more)

    def after(self, ask: Ask, seen: Seen) -> Ask | None:
        url = self.path.value(seen.page)
        if url is None or url is False or url == "":
            return None
        if not isinstance(url, str):
            raise SourceFailed(f"paging.path {self.path.text} leads to what is no address")
        return Ask(url=url)


@dataclass(frozen=True, slots=True, kw_only=True)
class Paging:
    style: Style
    most_pages: int = MOST_PAGES
    in_body: bool = False  # of a POST: the parameters of the style
    has_more: JsonPath | None = None
    total: JsonPath | None = None
    same_page: bool = False  # two pages in a row may have the same records

    def first(self) -> Ask:
        return self.style.first()

    def after(self, ask: Ask, seen: Seen) -> Ask | None:
        if self.has_more is not None and not self.has_more.value(seen.page):
            return None
        return self.style.after(ask, seen)

    def total_of(self, page: Any) -> int | None:
        found = self.total.value(page) if self.total else None
        return found if isinstance(found, int) and not isinstance(found, bool) and found >= 0 else None


def paging_of(given: Given) -> Paging:
    return Paging(
        style=_style(given),
        most_pages=given.whole("most_pages", MOST_PAGES, least=1),
        in_body=given.choice("in", ("query", "body"), "query") == "body",
        has_more=_path(given, "has_more"),
        total=_path(given, "total"),
        same_page=given.truth("same_page", default=False),
    )


def _style(given: Given) -> Style:
    match given.choice("style", STYLES, "none"):
        case "page":
            size = _sized(given, "size_param", "size")
            return Numbered(param=given.text("param", "page"), start=given.whole("start", 1), more=size)
        case "offset":
            limit = _sized(given, "limit_param", "limit")
            return Offset(param=given.text("param", "offset"), start=given.whole("start", 0), more=limit)
        case "cursor":
            path, size = path_of(given.raw("path"), field=given.name("path")), _sized(given, "size_param", "size")
            return Cursor(param=given.text("param", "cursor"), path=path, more=size)
        case "link_header":
            return LinkHeader(more=_sized(given, "size_param", "size"))
        case "next_url":
            path, size = path_of(given.raw("path"), field=given.name("path")), _sized(given, "size_param", "size")
            return NextUrl(path=path, more=size)
        case _:
            return OnePage()


def _sized(given: Given, param: str, size: str) -> Mapping[str, Any]:
    """How many records a page is to have, where the job says both."""
    if param not in given and size not in given:
        return {}
    if param not in given or size not in given:
        raise SourceFailed(f"{given.name(param)} and {given.name(size)} go together: give both or neither")
    return {given.text(param): given.whole(size, 0, least=1)}


def _path(given: Given, name: str) -> JsonPath | None:
    return path_of(given.raw(name), field=given.name(name)) if name in given else None
