"""AWS JSON 1.1, without a web framework: targets and bodies in, replies out.

The order that keeps hostile requests cheap: `read_body` (refuses by the declared length, then while reading), then the
signature over the raw bytes, then `parse_target`, `parse_body`. Every reply carries its request id.
"""

from collections.abc import AsyncIterable, Container, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import uuid4

import orjson

from waterclock.faces.glue.errors import BodyTooLarge, Refusal, SerializationFailed, UnknownOperation

CONTENT_TYPE: Final = "application/x-amz-json-1.1"
TARGET_PREFIX: Final = "AWSGlue"
BODY_LIMIT: Final = 1024 * 1024
UNREAD_BODY: Final = (408, 413)
DEPTH_LIMIT: Final = 100  # the model's deepest legal request nests a dozen; our own JSON writer stops at 254


@dataclass(slots=True, kw_only=True)
class Reply:
    """Not frozen: there is one for every call."""

    status: int
    headers: Mapping[str, str]
    body: bytes


def parse_target(target: str | None, served: Container[str], *, prefix: str = TARGET_PREFIX) -> str:
    """The action that `X-Amz-Target: AWSGlue.GetJob` names, if it is among those served."""
    given, _, action = (target or "").partition(".")
    if given != prefix or action not in served:
        raise UnknownOperation(_printable(target) if target else None)
    return action


async def read_body(chunks: AsyncIterable[bytes], *, declared: str | None, limit: int = BODY_LIMIT) -> bytes:
    """The raw body. Stops at the first byte past the limit, whatever Content-Length promised."""
    if declared is not None and declared.isdecimal() and (len(declared) > 18 or int(declared) > limit):
        raise BodyTooLarge(limit)
    taken = bytearray()
    async for chunk in chunks:
        taken += chunk
        if len(taken) > limit:
            raise BodyTooLarge(limit)
    return bytes(taken)


def parse_body(raw: bytes) -> dict[str, Any]:
    try:
        body = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        raise SerializationFailed(f"The request body is not JSON: {error}") from None
    if type(body) is not dict:
        raise SerializationFailed("The request body must be a JSON object")
    # Nothing nests deeper than it has brackets: the walk is only for documents that could.
    if raw.count(b"{") + raw.count(b"[") > DEPTH_LIMIT and _deeper_than(DEPTH_LIMIT, body):
        raise SerializationFailed(f"The request body is nested deeper than {DEPTH_LIMIT} levels")
    return body


def success(result: Mapping[str, Any], *, request_id: str) -> Reply:
    """Datetimes become epoch seconds with milliseconds, as AWS sends them."""
    body = orjson.dumps(result, default=_wire_value, option=orjson.OPT_PASSTHROUGH_DATETIME)
    return Reply(status=200, headers=_headers(request_id), body=body)


def failure(refused: Refusal, *, request_id: str, told_as: str = "Message") -> Reply:
    """`told_as` is what the service calls its message: AWS's own do not agree on the case."""
    body = orjson.dumps({"__type": refused.name, told_as: encodable(refused.message)})
    return Reply(status=refused.status, headers={**_headers(request_id), **closing(refused)}, body=body)


def closing(refused: Refusal) -> Mapping[str, str]:
    """While the rest of the body is still on its way it must not be read as a request."""
    return {"connection": "close"} if refused.status in UNREAD_BODY else {}


def new_request_id() -> str:
    return str(uuid4())


def epoch_seconds(moment: datetime) -> float:
    if moment.tzinfo is None:
        raise ValueError("a moment without a zone has no epoch seconds")
    return round(moment.timestamp(), 3)


def _headers(request_id: str) -> dict[str, str]:
    return {"content-type": CONTENT_TYPE, "x-amzn-RequestId": request_id}


def _wire_value(value: object) -> float:
    if isinstance(value, datetime):
        return epoch_seconds(value)
    raise TypeError(f"{type(value).__name__} has no form on the Glue wire")


def _deeper_than(limit: int, body: dict[str, Any]) -> bool:
    level: list[Any] = [body]
    for _ in range(limit):
        level = [item for container in level for item in _items(container) if isinstance(item, (dict, list))]
        if not level:
            return False
    return True


def _items(container: dict[str, Any] | list[Any]) -> Any:
    return container.values() if isinstance(container, dict) else container


def _printable(text: str) -> str:
    return encodable(text[:128])


def encodable(text: str) -> str:
    """Lone surrogates cannot be written as UTF-8; an error must never fail to be told."""
    return text.encode("utf-8", "replace").decode("utf-8")
