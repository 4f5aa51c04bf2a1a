"""Numbers with a point as Java writes them, and therefore Spark: 1.0, 1.5E7, NaN, Infinity."""

from decimal import Decimal
from typing import Final

_NOT_FINITE: Final = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}
_PLAIN_FROM: Final = -3  # 0.001 is written out, 0.0001 is 1.0E-4
_PLAIN_BELOW: Final = 7  # 9999999.0 is written out, 10000000.0 is 1.0E7


def java_number(shortest: str) -> str:
    """Of the shortest text that names the number, as `repr` and Arrow make it."""
    if shortest in _NOT_FINITE:
        return _NOT_FINITE[shortest]
    sign, digits, exponent = Decimal(shortest).normalize().as_tuple()
    assert isinstance(exponent, int)
    written = "".join(map(str, digits))
    point = len(written) + exponent  # how many digits stand before it
    minus = "-" if sign else ""
    if written == "0":
        return f"{minus}0.0"
    if _PLAIN_FROM < point <= _PLAIN_BELOW:
        return f"{minus}{_plain(written, point)}"
    return f"{minus}{written[0]}.{written[1:] or '0'}E{point - 1}"


def _plain(digits: str, point: int) -> str:
    if point <= 0:
        return f"0.{'0' * -point}{digits}"
    return f"{digits[:point].ljust(point, '0')}.{digits[point:] or '0'}"
