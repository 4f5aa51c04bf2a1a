"""`python -m bench`: every workload can be loaded and says how it is used."""

import argparse

import pytest

from bench import __main__ as bench
from bench.contest import holding
from bench.contest.contestant import PEER, Contest


@pytest.mark.parametrize("name", [*bench.CONTESTS, *bench.ALONE, "all"])
def test_every_workload_says_how_it_is_used(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["python -m bench", name, "--help"])
    with pytest.raises(SystemExit) as left:
        bench.main()
    assert left.value.code == 0
    assert f"bench {name}" in capsys.readouterr().out


@pytest.mark.parametrize("name", bench.CONTESTS)
def test_every_contest_has_us_in_it(name: str) -> None:
    parser = argparse.ArgumentParser()
    bench.CONTESTS[name].arguments(parser)
    held = bench.CONTESTS[name].contests(argparse.Namespace(**vars(parser.parse_args([])), quick=True))
    assert held
    assert all("us" in {each.role for each in contest.contestants} for contest in held)


def test_a_peer_that_is_misspelt_is_told_before_anything_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["python -m bench", "burst", "--peers", "quarz"])
    with pytest.raises(SystemExit, match=r"no peer's name begins with 'quarz'; there are: .*quartz, batch 1"):
        bench.main()


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (["burst", "--peers", "none", "--rounds", "0"], "one at least"),
        (["all", "--only", "bursts"], "there are: burst, "),
    ],
)
def test_what_cannot_be_held_is_told_before_anything_runs(
    given: list[str], told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", ["python -m bench", *given])
    with pytest.raises(SystemExit, match=told):
        bench.main()


def test_a_peer_takes_part_in_those_contests_that_know_it(monkeypatch: pytest.MonkeyPatch) -> None:
    held: dict[str, list[str]] = {}

    def hold(contest: Contest, given: argparse.Namespace) -> bool:
        held[contest.name] = [each.name for each in contest.contestants if each.role == PEER]
        return True

    monkeypatch.setattr(holding, "_held", hold)
    monkeypatch.setattr("sys.argv", ["python -m bench", "all", "--only", "submit,api", "--peers", "pgqueuer,moto"])
    assert bench.main() == 0
    assert held["W3-batched"] == ["pgqueuer"]
    assert held["W7-api-GetJobRun"] == ["moto_server (in memory, not durable)"]
