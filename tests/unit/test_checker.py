"""The checker itself: a good history passes, and one with a run dropped, doubled, shifted or invented does not."""

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from waterclock.chaos.checker import Answer, Findings, History, check
from waterclock.chaos.evidence import ALIVE, END, START, Mark, program, read
from waterclock.domain.moment import SECOND

DUE = [second * SECOND for second in (10, 12, 14, 16, 18)]
SKIPPED = (12 * SECOND, 14 * SECOND)


def run(work: str, fire_at: int, *, run: str = "", attempt: int = 0, late: int = 100, lasts: int = 500) -> list[Mark]:
    name = run or f"{work}-{fire_at}"
    at = fire_at + late * 1_000
    start = Mark(event=START, work=work, run=name, attempt=attempt, fence=attempt + 1, fire_at=fire_at, at=at)
    return [start, replace(start, event=END, at=at + lasts * 1_000)]


def good(*more: Mark, **changes: Any) -> History:
    """Five instants of which two were skipped, one of the rest tried twice, and a call."""
    marks = [
        *run("job", DUE[0]),
        *run("job", DUE[3])[:1],
        *run("job", DUE[3], attempt=1, late=900),
        *run("job", DUE[4]),
        *run("by hand", 11 * SECOND),
        *more,
    ]
    stored = {mark.of: "SUCCEEDED" for mark in marks} | {(f"job-{DUE[3]}", 0): "FAILED"}
    facts: dict[str, Any] = {
        "marks": marks,
        "read_at": 60 * SECOND,
        "due": {"job": DUE},
        "skipped": {"job": [SKIPPED]},
        "calls": {"by hand": Answer.ACKNOWLEDGED},
        "alone": [["job"]],
        "stored": stored,
    }
    return History(**{**facts, **changes})


def kinds(history: History) -> set[str]:
    return {fault.partition(":")[0] for fault in check(history).faults}


def without(*dropped: Callable[[Mark], bool]) -> History:
    marks = [mark for mark in good().marks if not any(drop(mark) for drop in dropped)]
    return good(marks=marks, stored={})


def test_a_good_history_passes_and_tells_how_late_it_was() -> None:
    findings = check(good())
    assert findings.faults == []
    assert findings.late_us == [100_000] * 4


def test_a_run_that_was_dropped_is_lost() -> None:
    assert kinds(without(lambda mark: mark.fire_at == DUE[4])) == {"lost"}
    assert kinds(good(skipped={})) == {"lost"}


def test_a_run_that_failed_before_its_program_began_is_not_lost() -> None:
    history = without(lambda mark: mark.fire_at == DUE[4])
    assert kinds(replace(history, failed={"job": [DUE[4]]})) == set()


def test_what_is_not_yet_overdue_is_not_lost() -> None:
    history = without(lambda mark: mark.fire_at == DUE[4])
    assert kinds(replace(history, read_at=DUE[4] + SECOND)) == set()


def test_an_attempt_that_was_started_twice_is_double() -> None:
    assert "double" in kinds(good(run("job", DUE[0], late=800)[0]))


def test_two_runs_of_one_instant_are_double() -> None:
    assert "double" in kinds(good(*run("job", DUE[0], run="another", late=800)))


def test_a_start_before_its_instant_is_early() -> None:
    history = without(lambda mark: mark.fire_at == DUE[4])
    assert kinds(replace(history, marks=[*history.marks, *run("job", DUE[4], late=-200)])) == {"early"}


def test_a_first_start_after_the_bound_is_late_where_there_is_one() -> None:
    assert kinds(good(late_bound_us=100_000)) == set()
    assert kinds(good(late_bound_us=99_999)) == {"late"}
    assert len(check(good(late_bound_us=99_999)).late) == 3  # not the retry, which comes when it can, nor the call


def test_a_run_whose_instant_was_shifted_is_lost_there_and_a_phantom_here() -> None:
    marks = [replace(mark, fire_at=mark.fire_at - SECOND) if mark.fire_at == DUE[4] else mark for mark in good().marks]
    assert kinds(good(marks=marks)) == {"lost", "phantom"}


def test_an_instant_at_the_moment_of_a_switch_may_run_or_not() -> None:
    extra = run("job", 20 * SECOND)
    assert kinds(good(*extra)) == {"phantom"}
    assert kinds(good(*extra, perhaps={"job": [20 * SECOND]})) == set()
    assert kinds(good(perhaps={"job": [20 * SECOND]})) == set()


def test_a_run_that_was_invented_is_a_phantom() -> None:
    assert kinds(good(*run("nobody's", DUE[0]))) == {"phantom"}
    assert kinds(good(*run("job", DUE[1]))) == {"phantom"}  # it was skipped
    assert kinds(good(run("job", DUE[1], run="unseen")[1], stored={})) == {"phantom"}  # an end without a start


@pytest.mark.parametrize(
    ("answer", "runs", "found"),
    [
        (Answer.ACKNOWLEDGED, 0, {"lost"}),
        (Answer.ACKNOWLEDGED, 1, set()),
        (Answer.ACKNOWLEDGED, 2, {"phantom"}),
        (Answer.REFUSED, 0, set()),
        (Answer.REFUSED, 1, {"phantom"}),
        (Answer.UNKNOWN, 0, set()),
        (Answer.UNKNOWN, 1, set()),
        (Answer.UNKNOWN, 2, {"phantom"}),
    ],
)
def test_a_call_has_as_many_runs_as_its_answer_allows(answer: Answer, runs: int, found: set[str]) -> None:
    marks = [mark for number in range(runs) for mark in run("call", (30 + number) * SECOND, run=f"call-{number}")]
    history = good(*marks, calls={"by hand": Answer.ACKNOWLEDGED, "call": answer})
    assert kinds(history) == found


def test_attempts_of_one_run_must_not_overlap() -> None:
    marks = [*run("job", DUE[0], lasts=900), *run("job", DUE[0], attempt=1, late=600)]
    assert kinds(good(marks=[*marks, *good().marks[2:]], stored={})) == {"overlap"}


def test_an_attempt_without_an_end_lived_until_its_last_mark() -> None:
    first, second = run("job", DUE[0])[0], run("job", DUE[0], attempt=1, late=600)
    alive = replace(first, event=ALIVE, at=first.at + 400_000)
    rest = good().marks[2:]
    assert kinds(good(marks=[first, alive, *second, *rest], stored={})) == set()
    alive = replace(alive, at=second[0].at + 1)
    assert kinds(good(marks=[first, alive, *second, *rest], stored={})) == {"overlap"}


def test_instants_of_what_must_be_alone_must_not_overlap() -> None:
    slow = [*run("job", DUE[0]), *run("job", DUE[3], lasts=2_500), *run("job", DUE[4]), *run("by hand", 11 * SECOND)]
    assert kinds(good(marks=slow, stored={})) == {"overlap"}
    assert kinds(good(marks=slow, stored={}, alone=())) == set()


def test_the_store_must_say_what_the_evidence_says() -> None:
    stored = good().stored
    first = (f"job-{DUE[0]}", 0)
    assert kinds(good(stored={**stored, first: "RUNNING"})) == {"state"}
    assert kinds(good(stored={**stored, (f"job-{DUE[3]}", 0): "SUCCEEDED"})) == {"state"}  # it left no end
    assert kinds(good(stored={key: state for key, state in stored.items() if key != first})) == {"state"}


def test_a_process_that_lives_on_is_an_orphan() -> None:
    assert kinds(good(alive=["job-1"])) == {"orphan"}


def test_an_acknowledged_call_whose_run_failed_with_a_reason_is_not_lost() -> None:
    calls = {"by hand": Answer.ACKNOWLEDGED, "call": Answer.ACKNOWLEDGED}
    assert kinds(good(calls=calls, failed={"call": [30 * SECOND]})) == set()


def test_a_call_names_its_own_work(tmp_path: Path) -> None:
    path, script = tmp_path / "evidence", tmp_path / "script.py"
    told = {"RUN_ID": "jr_1", "FIRE_TIME": "1970-01-01T00:00:10Z", "ATTEMPT": "0", "FENCE": "1"}
    script.write_text(program("job", path))
    environment = {f"WATERCLOCK_{name}": value for name, value in told.items()}
    subprocess.run([sys.executable, script, "--JOB_NAME", "job", "--work", "call-7"], env=environment, check=True)
    assert {mark.work for mark in read(path)} == {"call-7"}


def test_a_program_leaves_its_marks_itself(tmp_path: Path) -> None:
    path, script = tmp_path / "evidence", tmp_path / "script.py"
    told = {
        "RUN_ID": "jr_1_attempt_2",
        "FIRE_TIME": "1970-01-01T00:00:10Z",
        "ATTEMPT": "2",
        "FENCE": "3",
        "ROLE": "bkp",
    }
    environment = {f"WATERCLOCK_{name}": value for name, value in told.items()}
    for body in ("", "sys.exit(3)"):
        script.write_text(program("job", path, body))
        subprocess.run([sys.executable, script, "bkp", "a b"], env=environment, check=False)
    assert [(mark.event, mark.work, mark.of, mark.fence, mark.fire_at) for mark in read(path)] == [
        (event, "job", ("jr_1", 2), 3, DUE[0]) for event in (START, END, START)
    ]
    assert {(mark.role, mark.arguments) for mark in read(path)} == {("bkp", ("bkp", "a b"))}
    assert len([json.loads(line) for line in path.read_text().splitlines()]) == 3


MUTATIONS: dict[str, Callable[[], History]] = {
    "lost": lambda: good(skipped={}),
    "double": lambda: good(*run("job", DUE[0], run="another", late=800)),
    "early": lambda: good(marks=[replace(mark, at=mark.fire_at - 1) for mark in good().marks]),
    "late": lambda: good(late_bound_us=0),
    "overlap": lambda: good(*run("job", DUE[0], attempt=1, late=200)),
    "phantom": lambda: good(*run("nobody's", DUE[0])),
    "state": lambda: good(stored=dict.fromkeys(good().stored, "RUNNING")),
    "orphan": lambda: good(alive=["job-1"]),
}


def test_every_kind_of_finding_is_found_in_a_history_that_has_it() -> None:
    assert set(MUTATIONS) == {each.name for each in fields(Findings)} - {"late_us"}
    for kind, history in MUTATIONS.items():
        assert kind in kinds(history()), kind
