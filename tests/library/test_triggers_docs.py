"""The examples in docs/library-triggers.md are true."""

import doctest
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "library-triggers.md"


def test_every_example_on_the_page_answers_as_printed() -> None:
    result = doctest.testfile(str(PAGE), module_relative=False)
    assert result.attempted > 30
    assert result.failed == 0
