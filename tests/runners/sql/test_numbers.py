"""Numbers with a point, as Java's Double.toString writes them."""

import pytest

from waterclock.runners.sql.numbers import java_number


@pytest.mark.parametrize(
    ("shortest", "written"),
    [
        ("0", "0.0"),
        ("-0.0", "-0.0"),
        ("1", "1.0"),
        ("100", "100.0"),
        ("0.1", "0.1"),
        ("0.001", "0.001"),
        ("0.0001", "1.0E-4"),
        ("0.00012345", "1.2345E-4"),
        ("9999999.0", "9999999.0"),
        ("10000000.0", "1.0E7"),
        ("12345678.25", "1.234567825E7"),
        ("-1e+16", "-1.0E16"),
        ("1.7976931348623157e+308", "1.7976931348623157E308"),
        ("5e-324", "5.0E-324"),
        ("nan", "NaN"),
        ("inf", "Infinity"),
        ("-inf", "-Infinity"),
    ],
)
def test_a_number_is_written_as_java_does(shortest: str, written: str) -> None:
    assert java_number(shortest) == written
