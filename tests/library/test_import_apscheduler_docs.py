"""docs/import-apscheduler.md is tried as it stands: its programs are run, its commands answer as it says."""

import re
import shlex
import subprocess
import sys
from contextlib import chdir
from pathlib import Path

from click.testing import CliRunner

from waterclock.faces.cli import main

DOCUMENT = (Path(__file__).parents[2] / "docs/import-apscheduler.md").read_text()
PROGRAM = re.compile(r"^```python\n# (\S+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^```console\n\$ waterclock (.*?)\n(.*?)^```", re.MULTILINE | re.DOTALL)
MOMENT = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z")


def timeless(text: str) -> list[str]:
    """Whatever day it is."""
    return MOMENT.sub("MOMENT", text).split()


def run(program: str) -> str:
    return subprocess.run([sys.executable, program], capture_output=True, text=True, check=True, timeout=60).stdout


def test_the_example_goes_from_apscheduler_to_ours(tmp_path: Path) -> None:
    programs = dict(PROGRAM.findall(DOCUMENT))
    with chdir(tmp_path):
        for name, source in programs.items():
            Path(name).write_text(source)
        run("schedule.py")
        for line, expected in COMMAND.findall(DOCUMENT):
            assert timeless(CliRunner().invoke(main, shlex.split(line)).output) == timeless(expected), line
        assert run("switched.py") == "['clean', 'remind-kim', 'ship-7']\n"
