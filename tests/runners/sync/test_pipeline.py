"""Rows from a source to outputs: all of them in place, or none, and what the next run knows only after them."""

from collections.abc import Callable, Mapping
from contextlib import contextmanager
from typing import Any

import pytest

from tests.runners.sync.doubles import FakeOutput, FakeRows
from waterclock.domain.lake_sync import SyncMode
from waterclock.runners.sql.loading import Loading
from waterclock.runners.sql.outputs import OutputFailed
from waterclock.runners.sync.pipeline import Pipeline
from waterclock.runners.sync.source import SourceFailed


class Run:
    """One pipeline and whom it speaks to."""

    def __init__(self, rows: FakeRows, *outputs: FakeOutput, goes_on: bool = False) -> None:
        self.outputs = outputs or (FakeOutput(),)
        self.told: dict[str, Any] = {}
        self.lines: list[str] = []
        self.kept: Mapping[str, Any] | None = None
        self.commits = False
        self.keeps: Callable[[], None] = lambda: None
        self._pipeline = Pipeline(
            rows,
            Loading(self.outputs, self.lines.append),
            mode=SyncMode.INCREMENTAL if goes_on else SyncMode.FULL,
            goes_on=goes_on,
            tell=self.told.update,
            log=self.lines.append,
            commits=self._committing(),
        )

    def __call__(self) -> "Run":
        self._pipeline.run(self._keep)
        return self

    @contextmanager
    def _committing(self) -> Any:
        self.commits = True
        yield

    def _keep(self, said: Mapping[str, Any] | None) -> Callable[[], None]:
        assert not self.commits
        self.keeps()

        def store() -> None:
            assert self.commits
            assert all(output.aside is None for output in self.outputs)
            self.kept = said

        return store


def test_rows_reach_all_outputs_and_are_counted() -> None:
    run = Run(FakeRows(total=5, said={"value": 7}), FakeOutput(where="one"), FakeOutput(where="other"))()
    assert [output.rows for output in run.outputs] == [5, 5]
    assert [output.calls for output in run.outputs] == [["open", "write", "write", "commit"]] * 2
    told = {name: run.told[name] for name in ("rows_read", "rows_written", "bytes_written", "total_rows", "percent")}
    assert told == {"rows_read": 5, "rows_written": 10, "bytes_written": 20, "total_rows": 5, "percent": 100.0}
    assert run.told["outputs"][1] == {"where": "other", "rows": 5, "bytes": 10}
    assert (run.told["mode"], run.kept) == ("FullSync", {"value": 7})


def test_a_source_that_fails_leaves_all_as_it_was() -> None:
    run = Run(FakeRows(fails_after=1, said={"value": 7}))
    with pytest.raises(SourceFailed, match="cut"):
        run()
    (output,) = run.outputs
    assert (output.rows, output.aside, output.calls[-1], run.kept) == (None, None, "abort", None)


@pytest.mark.parametrize("call", ["open", "write", "commit"])
def test_an_output_that_fails_leaves_all_as_they_were(call: str) -> None:
    run = Run(FakeRows(said={"value": 7}), FakeOutput(where="one", fails_at=call), FakeOutput(where="other"))
    with pytest.raises(OutputFailed, match=f"one: cannot {call}"):
        run()
    assert [(output.rows, output.aside) for output in run.outputs] == [(None, None)] * 2
    assert run.kept is None


def test_a_failure_after_the_first_output_says_what_is_in_place() -> None:
    run = Run(FakeRows(), FakeOutput(where="one"), FakeOutput(where="other", fails_at="commit"))
    with pytest.raises(OutputFailed, match="other: cannot commit; already in place: one"):
        run()
    assert [output.rows for output in run.outputs] == [5, None]
    assert run.kept is None


def test_an_empty_table_is_an_empty_result() -> None:
    (output,) = Run(FakeRows(sizes=()))().outputs
    assert (output.rows, output.calls) == (0, ["open", "commit"])


def test_where_nothing_is_new_nothing_is_written_and_the_bookmark_moves() -> None:
    run = Run(FakeRows(sizes=(0,), said={"value": 8}), goes_on=True)()
    assert (run.outputs[0].calls, run.kept, run.told["rows_written"]) == ([], {"value": 8}, 0)
    assert "nothing is new since the last run: nothing is written" in run.lines


def test_what_the_next_run_cannot_be_told_is_no_reason_to_find_out_too_late() -> None:
    run = Run(FakeRows(said={"value": 8}), goes_on=True)

    def refuse() -> None:
        raise SourceFailed("too long")

    run.keeps = refuse
    with pytest.raises(SourceFailed):
        run()
    assert (run.outputs[0].rows, run.outputs[0].calls[-1]) == (None, "abort")


def test_lines_that_were_passed_over_are_told() -> None:
    assert Run(FakeRows(bad_lines=2))().told["bad_lines"] == 2
