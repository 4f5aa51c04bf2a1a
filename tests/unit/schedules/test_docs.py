"""The examples in docs/schedules.md are true."""

import doctest
from pathlib import Path

PAGE = Path(__file__).parents[3] / "docs" / "schedules.md"


def test_every_example_on_the_page_answers_as_printed() -> None:
    result = doctest.testfile(str(PAGE), module_relative=False)
    assert result.attempted > 30
    assert result.failed == 0
