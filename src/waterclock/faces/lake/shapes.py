"""JSON Schema in a few words, and the shapes that many answers of this face have."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from waterclock.domain.lake import LakeStatus
from waterclock.domain.lake_sync import SyncStatus
from waterclock.faces.api.call import MOST_DIGITS
from waterclock.faces.api.fields import NAME_LENGTH
from waterclock.faces.lake.fields import LAST_MILLISECOND

Schema = Mapping[str, Any]


def ref(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


def obj(properties: Mapping[str, Schema], required: Sequence[str] = ()) -> Schema:
    """More may come."""
    return {"type": "object", "properties": dict(properties), **({"required": list(required)} if required else {})}


def sent(properties: Mapping[str, Schema], required: Sequence[str] = ()) -> Schema:
    """By a caller: null is as good as not given, and what is not known is passed over."""
    return obj({name: each if name in required else or_null(each) for name, each in properties.items()}, required)


def or_null(schema: Schema) -> Schema:
    return {"oneOf": [schema, {"type": "null"}]}


def all_of(properties: Mapping[str, Schema]) -> Schema:
    """An answer: every field is there."""
    return obj(properties, tuple(properties))


def text(most: int = NAME_LENGTH, least: int = 1) -> Schema:
    return {"type": "string", "minLength": least, "maxLength": most}


def whole(least: int, most: int) -> Schema:
    return {"type": "integer", "minimum": least, "maximum": most}


def one_of(values: Sequence[str]) -> Schema:
    return {"type": "string", "enum": [str(each) for each in values]}


def several(each: Schema, most: int, least: int = 0) -> Schema:
    return {"type": "array", "items": each, "maxItems": most, **({"minItems": least} if least else {})}


def page_of(each: Schema) -> Schema:
    return all_of({"data": {"type": "array", "items": each}, "total": COUNT})


LARGEST: Final = 10**MOST_DIGITS - 1
ID: Final = whole(1, LARGEST)
COUNT: Final = whole(0, LARGEST)
TIME: Final = {**whole(0, LAST_MILLISECOND), "description": "milliseconds since 1970, UTC"}
TIME_OR_NONE: Final = {**TIME, "type": ["integer", "null"]}
STATUS: Final = one_of(list(dict.fromkeys((*LakeStatus, *SyncStatus))))
LONG: Final = {"type": "string"}
FLAG: Final = {"type": "boolean"}
ANYTHING: Final = {"type": "object"}
