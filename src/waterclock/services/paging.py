"""Pages: a list cut at a size, and the token that asks for the rest of the same list."""

import base64
import binascii
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import orjson

from waterclock.domain.errors import InvalidInput

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Page(Generic[T]):
    items: Sequence[T]
    next_token: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRequest:
    size: int = 100
    token: str | None = None


def page_of(of: str, found: Sequence[T], size: int, where: Callable[[T], tuple[object, ...]]) -> Page[T]:
    """`found` is one more than a page, where there is more; `where` is an item's place in the list."""
    items = found[:size]
    return Page(items=items, next_token=token(of, *where(items[-1])) if len(found) > size else None)


def token(of: str, *position: object) -> str:
    """Where a list goes on; `of` names the list, so that a token of another one is refused."""
    return base64.urlsafe_b64encode(orjson.dumps([of, *position])).decode()


def position(of: str, given: str | None, kinds: tuple[type, ...]) -> tuple[object, ...] | None:
    """What `token` was given, or None at the beginning."""
    if given is None:
        return None
    try:
        found = orjson.loads(base64.b64decode(given.encode(), altchars=b"-_", validate=True))
    except (binascii.Error, ValueError, UnicodeEncodeError):
        found = None
    fits = isinstance(found, list) and len(found) == 1 + len(kinds) and found[0] == of
    if not fits or not all(_is(kind, value) for value, kind in zip(found[1:], kinds, strict=True)):
        raise InvalidInput("is not a token of this list: begin again without it", field="NextToken", value=given)
    return tuple(found[1:])


def _is(kind: type, value: object) -> bool:
    """Of that kind, and such that every store can hold it: a token is only text, and anybody may write one."""
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        return False
    return type(value) is kind and not (isinstance(value, str) and "\0" in value)
