"""What records become: columns found in the first of them, and values that fit or are refused."""

from datetime import UTC, date, datetime
from typing import Any

import pytest

from waterclock.runners.sync.service.columns import Columns, Kind, Misfit, fitted


def kinds(*records: dict[str, Any], types: dict[str, Kind] | None = None, known: dict[str, Kind] | None = None) -> Any:
    columns = Columns(types or {}, known or {})
    columns.see(records)
    return columns.kinds


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([True, None], Kind.BOOL),
        ([1, -(2**63), 2**63 - 1], Kind.INT),
        ([1, 1.5], Kind.FLOAT),
        ([1, 2**63], Kind.TEXT),
        (["a"], Kind.TEXT),
        (["2026-11-16T09:30:00Z"], Kind.TEXT),
        ([1, "a"], Kind.TEXT),
        ([True, 1], Kind.TEXT),
        ([{"a": 1}], Kind.JSON),
        ([[1], "a"], Kind.JSON),
        ([None, None], Kind.TEXT),
    ],
)
def test_a_columns_kind_holds_all_that_was_seen(values: list[Any], kind: Kind) -> None:
    assert kinds(*({"x": value} for value in values)) == {"x": kind}


def test_columns_are_in_the_order_in_which_they_were_seen() -> None:
    assert list(kinds({"b": 1}, {"a": 1, "b": 2}, {"c": None})) == ["b", "a", "c"]


def test_what_the_job_says_rules_and_what_the_last_run_knew_is_widened() -> None:
    found = kinds({"a": 1, "b": 1, "c": None}, types={"a": Kind.TEXT}, known={"b": Kind.FLOAT, "c": Kind.INT})
    assert found == {"a": Kind.TEXT, "b": Kind.FLOAT, "c": Kind.INT}
    assert kinds({"b": "x"}, known={"b": Kind.INT}) == {"b": Kind.TEXT}


@pytest.mark.parametrize(
    ("value", "kind", "held"),
    [
        (None, Kind.INT, None),
        (True, Kind.BOOL, True),
        (7, Kind.FLOAT, 7.0),
        (7, Kind.TEXT, "7"),
        (True, Kind.TEXT, "true"),
        ("물시계", Kind.TEXT, "물시계"),
        ({"a": [1, "물"]}, Kind.JSON, '{"a":[1,"물"]}'),
        ("a", Kind.JSON, '"a"'),
        ("2026-11-16T18:30:00+09:00", Kind.TIMESTAMP, datetime(2026, 11, 16, 9, 30, tzinfo=UTC)),
        ("2026-11-16 09:30:00", Kind.TIMESTAMP, datetime(2026, 11, 16, 9, 30, tzinfo=UTC)),
        ("2026-11-16", Kind.DATE, date(2026, 11, 16)),
    ],
)
def test_a_value_that_fits_is_held(value: Any, kind: Kind, held: Any) -> None:
    assert fitted("x", value, kind) == held


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("7", Kind.INT),
        (True, Kind.INT),
        (7.5, Kind.INT),
        (2**63, Kind.INT),
        (2**53 + 1, Kind.FLOAT),
        (True, Kind.FLOAT),
        (1, Kind.BOOL),
        ("yesterday", Kind.TIMESTAMP),
        (7, Kind.DATE),
        ("\ud800", Kind.TEXT),
        (["\ud800"], Kind.JSON),
    ],
)
def test_a_value_that_would_be_changed_is_refused(value: Any, kind: Kind) -> None:
    with pytest.raises(Misfit, match=r"^'x' is ") as misfit:
        fitted("x", value, kind)
    str(misfit.value).encode()  # what is said of it can be written


def test_what_is_said_of_a_value_is_short() -> None:
    with pytest.raises(Misfit, match=r'^\'x\' is "a{59}…, and the column is int$'):
        fitted("x", "a" * 1000, Kind.INT)
