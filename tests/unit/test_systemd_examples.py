"""The units of examples/systemd: systemd reads them, and the commands in them exist."""

import configparser
import shlex
import shutil
import subprocess
from pathlib import Path

import click
import pytest

from waterclock.faces.cli import main

UNITS = sorted((Path(__file__).parents[2] / "examples" / "systemd").glob("*.service"))
PROGRAM = "/opt/waterclock/bin/waterclock"


def unit_of(path: Path) -> configparser.ConfigParser:
    unit = configparser.ConfigParser(strict=False, interpolation=None)
    unit.optionxform = str  # type: ignore[assignment,method-assign]  # systemd's names have capitals
    unit.read(path)
    return unit


def test_there_is_a_unit_for_each_role() -> None:
    assert [path.stem.removeprefix("waterclock-") for path in UNITS] == ["api", "remote-worker", "scheduler", "worker"]


@pytest.mark.parametrize("path", UNITS, ids=lambda path: path.stem)
def test_a_unit_starts_a_command_that_exists_and_is_started_again(path: Path) -> None:
    service = unit_of(path)["Service"]
    program, role, *flags = shlex.split(service["ExecStart"])
    with click.Context(main) as context:
        command = main.get_command(context, role)
        assert command is not None
        command.make_parser(context).parse_args(args=flags)
    assert (program, service["Restart"]) == (PROGRAM, "always")
    # Programs go on while their worker is restarted: systemd must not kill what it finds in the unit.
    assert service.get("KillMode") == ("process" if role == "worker" else None)


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not on this machine")
def test_systemd_finds_nothing_wrong_with_them(tmp_path: Path) -> None:
    for path in UNITS:
        text = path.read_text().replace(PROGRAM, "/bin/true")  # it looks whether the program is there
        (tmp_path / path.name).write_text(text)
    said = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", *map(str, sorted(tmp_path.iterdir()))],
        capture_output=True,
        text=True,
        check=False,
    )
    ours = [line for line in said.stderr.splitlines() if "waterclock-" in line]
    assert ours == []
