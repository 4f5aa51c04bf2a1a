"""The scripts of W6 and how they are checked: a contestant that loses output or an exit code has no figure."""

import sys

import pytest

from bench.chains import summed_up
from bench.contest.program import figures_of
from bench.ours.chains import Shape
from bench.peers import trivial


def test_a_script_that_ended_well_has_its_output_and_exit_code() -> None:
    with trivial.script() as script:
        trivial.check([trivial.run(str(script))], 1)


@pytest.mark.parametrize("ended", [[], [[0, ""]], [[1, trivial.OUTPUT]], [[0, trivial.OUTPUT]] * 2])
def test_a_lost_script_output_or_exit_code_is_no_result(ended: list[list[object]]) -> None:
    with pytest.raises(SystemExit, match="of 1 scripts ended"):
        trivial.check(ended, 1)


@pytest.mark.parametrize(
    "program",
    [("bench.peers.pools", "threads"), ("bench.peers.pools", "coroutines"), ("bench.limits.scripts", "scripts")],
)
def test_a_pool_runs_all_scripts_and_tells_its_rate(program: tuple[str, str]) -> None:
    module, workload = program
    assert figures_of([sys.executable, "-m", module, workload, "--count", "6"])["runs_per_second"] > 0


def test_the_overhead_of_a_step_is_what_chains_take_longer_than_bare_runs() -> None:
    assert summed_up(Shape(count=10), 3.0, 1.2) == {
        "chains_per_second": pytest.approx(10 / 3),
        "steps_per_second": pytest.approx(30),
        "bare_per_second": pytest.approx(75),
        "overhead_ms": pytest.approx(20),
    }
