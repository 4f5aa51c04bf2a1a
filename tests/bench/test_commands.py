"""`python -m bench`: every workload can be loaded and says how it is used."""

import argparse

import pytest

from bench import __main__ as bench


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
