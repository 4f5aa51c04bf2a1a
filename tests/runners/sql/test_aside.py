"""The names of what is not in its place: read back as they were made, and swept by the right one only."""

import pytest

from waterclock.runners.sql.aside import Aside, Stage, left_for
from waterclock.runners.sql.outputs import Tag

OURS = Tag(job_id=7, attempt_id=12)


@pytest.mark.parametrize("of", ["abc", "a-new-b", "물시계", "x\ny", "old1-x"])
@pytest.mark.parametrize("stage", list(Stage))
@pytest.mark.parametrize("number", [0, 3])
def test_a_name_says_whose_it_is(of: str, stage: Stage, number: int) -> None:
    aside = Aside(tag=OURS, stage=stage, of=of, number=number if stage is Stage.OLD else 0)
    assert str(aside).startswith(".waterclock-7-12")
    assert Aside.read(str(aside)) == aside


@pytest.mark.parametrize("name", ["abc", ".waterclock-7", ".waterclock-7-x-new-abc", "x.waterclock-7-12-new-abc"])
def test_other_names_are_none_of_ours(name: str) -> None:
    assert Aside.read(name) is None


@pytest.mark.parametrize(
    ("name", "is_swept"),
    [
        (".waterclock-7-11-new-abc", True),
        (".waterclock-7-11-old-other", True),
        (".waterclock-7-12-new-abc", True),
        (".waterclock-7-12-new-other", False),  # another output of this run, which may be at work
        (".waterclock-7-13-new-abc", False),  # a later run's: we may be late
        (".waterclock-77-11-new-abc", False),
        (".waterclock-8-11-new-abc", False),
        ("abc", False),
    ],
)
def test_a_sweep_takes_what_no_run_of_this_job_needs_any_more(name: str, is_swept: bool) -> None:
    assert bool(left_for(OURS, "abc", [name])) is is_swept
