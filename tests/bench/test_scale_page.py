"""docs/scale.md is what the code says."""

import json

import pytest

from bench.scale.constants import MEASURED, measured
from bench.scale.page import PAGE, filled, names_in
from bench.scale.tables import SIMULATED, number, of_files
from tests.bench.constants import CONSTANTS


def test_the_page_has_the_tables_of_the_code() -> None:
    """`tools/scale` writes it."""
    page = PAGE.read_text()
    assert names_in(page) == set(of_files())
    assert page == filled(page, of_files())


def test_a_table_of_another_run_is_seen() -> None:
    page = PAGE.read_text()
    tables = of_files()
    assert filled(page, {**tables, "costs": "| changed |"}) != page


def test_the_measured_constants_are_all_there_and_cost_something() -> None:
    constants = measured()
    assert type(constants) is type(CONSTANTS)
    assert json.loads(MEASURED.read_text())["load"]
    assert constants.fire.database_us_each > 0
    assert constants.run_bytes > constants.schedule_bytes / 10


def test_the_kept_simulation_lost_nothing() -> None:
    whole = json.loads(SIMULATED.read_text())["whole"]
    assert whole["fired"] + whole["skipped"] == whole["due"]


@pytest.mark.parametrize(
    ("value", "shown"),
    [(3, "3"), (0.1234, "0.123"), (0.00001, "< 0.001"), (1_234, "1,234"), (2.5e6, "2.5 M"), (1e9, "1 B")],
)
def test_numbers_are_short(value: float, shown: str) -> None:
    assert number(value) == shown
