"""Sail and Spark answer the documented SQL alike, but for the differences that are listed with their reasons."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest

from tests.lake.corpus import known
from tests.lake.corpus.asking import Answers, answers_of_both
from tests.lake.corpus.comparing import Answer, differences
from tests.lake.corpus.page import PAGE, page
from tests.lake.corpus.queries import corpus

Test = TypeVar("Test", bound=Callable[..., None])


def heavy(test: Test) -> Test:
    """Spark is asked for a minute, for several on a busy machine."""
    marked: Test = pytest.mark.heavy(pytest.mark.timeout(400)(test))
    return marked


@pytest.fixture(scope="module")
def both(lake_python: Path, java_home: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Answers, Answers]:
    return answers_of_both(lake_python, java_home, tmp_path_factory.mktemp("corpus"))


@heavy
def test_the_engines_differ_where_the_list_says_so_and_nowhere_else(both: tuple[Answers, Answers]) -> None:
    assert known.with_reasons(differences(*both)) == known.known(), "python -m tests.lake.corpus writes the list anew"


@heavy
def test_both_engines_answer_every_query(both: tuple[Answers, Answers]) -> None:
    names = [query.name for query in corpus()]
    assert [list(answers) for answers in both] == [names, names]


@heavy
def test_a_query_that_orders_nothing_answers_one_row(both: tuple[Answers, Answers]) -> None:
    unordered = [query.name for query in corpus() if "ORDER BY" not in query.sql]
    counts = {name: len(answers[name].get("rows", ["refused"])) for answers in both for name in unordered}
    assert [name for name, count in counts.items() if count != 1] == []


def test_every_difference_has_a_reason() -> None:
    assert [name for name, each in known.known().items() if each["reason"] == known.UNKNOWN] == []


def test_the_page_is_what_the_corpus_makes_of_it() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "python -m tests.lake.corpus writes the page anew"


def test_the_corpus_names_each_query_once() -> None:
    names = [query.name for query in corpus()]
    assert len(set(names)) == len(names) >= 60


ROWS: Answer = {"columns": [["n", "int32"], ["s", "string"]], "rows": [["1", '"a"'], ["2", '"b"']]}
OTHER_TYPE: Answer = {"columns": [["n", "int64"], ["s", "string"]], "rows": [["1", '"a"'], ["2", '"b"']]}
OTHER_ROW: Answer = {"columns": [["n", "int32"], ["s", "string"]], "rows": [["1", '"a"'], ["2", '"c"']]}
FEWER: Answer = {"columns": [["n", "int32"], ["s", "string"]], "rows": [["1", '"a"']]}
REFUSED: Answer = {"refused": "division by zero"}


@pytest.mark.parametrize(
    ("sail", "spark", "said"),
    [
        (ROWS, ROWS, None),
        (REFUSED, {"refused": "in other words"}, None),
        (ROWS, OTHER_TYPE, ("n int32", "n int64")),
        (ROWS, OTHER_ROW, ('s string: "b"', 's string: "c"')),
        (FEWER, REFUSED, ('1 row of (n int32, s string): 1, "a"', "refused: division by zero")),
    ],
)
def test_a_difference_says_what_is_different(sail: Answer, spark: Answer, said: tuple[str, str] | None) -> None:
    found = [(each.sail, each.spark) for each in differences({"q": sail}, {"q": spark})]
    assert found == ([] if said is None else [said])
