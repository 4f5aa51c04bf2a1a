"""Values that hold others, as JSON: what Spark's to_json makes of them. A struct's field that is NULL is left out."""

import base64
import json
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from waterclock.runners.sql.numbers import java_number

if TYPE_CHECKING:
    import pyarrow as pa


def json_texts(column: "pa.Array") -> list[str | None]:
    kind = column.type
    return [None if value is None else json_text(value, kind) for value in column.to_pylist()]


def json_text(value: Any, kind: "pa.DataType") -> str:
    """`value` as pyarrow hands it out; its type tells a map from a list of pairs."""
    import pyarrow.types as types

    if value is None:
        return "null"
    if types.is_struct(kind):
        fields = [(each.name, value[each.name], each.type) for each in kind]
        return _object([(name, held, its) for name, held, its in fields if held is not None])
    if types.is_map(kind):
        return _object([(_key(key, kind.key_type), held, kind.item_type) for key, held in value])
    if types.is_nested(kind):
        return f"[{','.join(json_text(each, kind.value_type) for each in value)}]"
    return _plain(value)


def _object(members: "list[tuple[str, Any, pa.DataType]]") -> str:
    return f"{{{','.join(f'{_string(name)}:{json_text(held, kind)}' for name, held, kind in members)}}}"


def _key(key: Any, kind: "pa.DataType") -> str:
    text = json_text(key, kind)
    return key if isinstance(key, str) else text.strip('"')


def _plain(value: Any) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case float():
            number = java_number(repr(value))
            return number if number[-1].isdigit() else _string(number)
        case Decimal():
            return format(value, "f")
        case bytes():
            return _string(base64.b64encode(value).decode())
        case datetime():
            return _string(moment_text(value))
        case date() | time():
            return _string(value.isoformat())
        case timedelta():
            return str(value.total_seconds())
        case _:
            return _string(str(value))


def moment_text(moment: datetime) -> str:
    """Three digits of a second at least, as Spark has them, and all six where they say something."""
    text = moment.isoformat(timespec="milliseconds" if moment.microsecond % 1000 == 0 else "microseconds")
    return text.removesuffix("+00:00") + "Z" if text.endswith("+00:00") else text


def _string(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
