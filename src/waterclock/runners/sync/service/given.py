"""What a source or a job of a service gives, field by field: read into a type, or refused with its name."""

from collections.abc import Collection, Mapping
from typing import Any

from waterclock.runners.sync.source import SourceFailed


class Given:
    """The fields of one object, an empty text as good as none; `where` stands before their names in a message."""

    def __init__(self, fields: object, where: str = "") -> None:
        if not isinstance(fields, Mapping):
            raise SourceFailed(f"{where.rstrip('.')} must be an object")
        self._fields: Mapping[str, Any] = fields
        self._where = where

    def __contains__(self, name: str) -> bool:
        return self._fields.get(name) not in (None, "")

    def text(self, name: str, default: str | None = None) -> str:
        value = self._fields.get(name)
        if name not in self and default is not None:
            return default
        if not isinstance(value, str) or not value.strip():
            raise SourceFailed(f"{self.name(name)} is missing: it must be a text")
        return value

    def choice(self, name: str, known: Collection[str], default: str) -> str:
        value = self.text(name, default)
        if value not in known:
            raise SourceFailed(f"{self.name(name)} is {value!r}: known are {', '.join(known)}")
        return value

    def whole(self, name: str, default: int, *, least: int = 0, most: int = 2**31 - 1) -> int:
        value = self._fields.get(name, default)
        value = default if value is None else value
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise SourceFailed(f"{self.name(name)} must be a whole number from {least} to {most}")
        return value

    def number(self, name: str, default: float | None, *, or_zero: bool = False) -> float | None:
        value = self._fields.get(name)
        if value is None:
            return default
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < float("inf"):
            raise SourceFailed(f"{self.name(name)} must be a number, 0 or more")
        if not value and not or_zero:
            raise SourceFailed(f"{self.name(name)} must be a number above 0")
        return float(value)

    def truth(self, name: str, *, default: bool) -> bool:
        value = self._fields.get(name)
        if value is not None and not isinstance(value, bool):
            raise SourceFailed(f"{self.name(name)} must be true or false")
        return default if value is None else value

    def texts(self, name: str) -> tuple[str, ...]:
        value = self._fields.get(name) or ()
        if not isinstance(value, list | tuple) or not all(isinstance(each, str) for each in value):
            raise SourceFailed(f"{self.name(name)} must be a list of texts")
        return tuple(value)

    def mapping(self, name: str) -> Mapping[str, Any]:
        value = self._fields.get(name)
        if value is None:
            return {}
        if not isinstance(value, Mapping):
            raise SourceFailed(f"{self.name(name)} must be an object")
        return value

    def inner(self, name: str) -> "Given":
        return Given(self.mapping(name), f"{self.name(name)}.")

    def raw(self, name: str) -> Any:
        return self._fields.get(name)

    def name(self, name: str) -> str:
        return f"{self._where}{name}"
