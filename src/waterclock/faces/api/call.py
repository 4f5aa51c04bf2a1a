"""One call that was let in: who, what was sent, and the services to serve it with."""

from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass
from typing import Any, Final

import orjson
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from waterclock.domain.access import Caller
from waterclock.domain.errors import InvalidInput, NotFound
from waterclock.faces.api.context import Context
from waterclock.faces.api.errors import BodyTooLarge
from waterclock.faces.api.fields import NAME_LENGTH, Fields, integer, read, text, written
from waterclock.faces.http.marks import mark_resource
from waterclock.services.paging import Page, PageRequest

LONGEST_PAGE: Final = 1_000
USUAL_PAGE: Final = 100
PAGING: Final[Fields] = {"size": written(integer(1, LONGEST_PAGE)), "token": text(2_000)}

MOST_DIGITS: Final = 18  # what every store can hold
NAMED: Final = ("name", "job")  # what a body is about
OURS: Final = "api"
NAMESPACES: Final = (OURS, "glue", "lake", "chains")


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    context: Context
    caller: Caller
    request: Request

    def name(self, key: str = "name") -> str:
        """Of the path, percent-decoded."""
        return str(text(NAME_LENGTH)(key, self.request.path_params[key]))

    def number(self, key: str, kind: str) -> int:
        """Of the path, where things are known by their numbers: what is no number is none of them."""
        given = self.name(key)
        if not (given.isascii() and given.isdigit() and len(given) <= MOST_DIGITS):
            raise NotFound(kind, given)
        return int(given)

    def query(self, fields: Fields, *, required: Collection[str] = ()) -> dict[str, Any]:
        given: dict[str, str] = {}
        for name, value in self.request.query_params.multi_items():
            if name in given:
                raise InvalidInput("is given twice", field=name[:NAME_LENGTH])
            given[name] = value
        return read(given, fields, required=required)

    async def body(self, fields: Fields, *, required: Collection[str] = ()) -> dict[str, Any]:
        """A JSON object; an empty body where nothing is required is an empty one."""
        data = await self.content(self.context.settings.body_limit_bytes)
        if not data and not required:
            return {}
        given = read(self.parsed(data), fields, required=required)
        if not self.request.path_params:
            self.is_about(*(given[name] for name in NAMED if given.get(name)))
        return given

    def parsed(self, data: bytes) -> object:
        if self.request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
            raise InvalidInput("must be application/json", field="content-type")
        try:
            return orjson.loads(data)
        except orjson.JSONDecodeError as problem:
            raise InvalidInput(f"the body is not JSON: {problem}") from None

    def is_about(self, *names: str) -> None:
        """For the audit, where the path does not say it."""
        mark_resource(self.request.scope, "/".join(names))

    async def content(self, limit: int) -> bytes:
        """The body as it was sent."""
        data = bytearray()
        try:
            async for chunk in self.request.stream():
                data += chunk
                if len(data) > limit:
                    raise BodyTooLarge(limit)
        except ClientDisconnect:
            raise InvalidInput("the body ended early") from None
        return bytes(data)


Handler = Callable[[Call], Awaitable[Response]]


def namespace(field: str, value: object) -> str:
    if not isinstance(value, str) or value not in NAMESPACES:
        raise InvalidInput(f"must be one of {', '.join(NAMESPACES)}", field=field, value=value)
    return value


def page_of(query: dict[str, Any]) -> PageRequest:
    return PageRequest(size=query.get("size", USUAL_PAGE), token=query.get("token"))


def json(content: object, status: int = 200) -> Response:
    # What a caller may see must not stay in a cache that others share.
    return Response(orjson.dumps(content), status, {"cache-control": "no-store"}, "application/json")


def json_page(page: Page[Any], render: Callable[[Any], object]) -> Response:
    return json({"items": [render(item) for item in page.items], "next_token": page.next_token})
