"""docs/chain-cli.md, from the first line to the last, on a server with real programs."""

import contextlib
import re
import shlex
import shutil
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from tests.acceptance.server import running
from waterclock.faces.cli import main

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs/chain-cli.md").read_text()
ENDS_OTHERWISE = {"chain stop 1": 2, "chain stop --chain orders --no-wait": 2}  # it has ended by then


def test_what_the_page_shows_is_what_is_printed(tmp_path: Path) -> None:
    examples = shutil.copytree(ROOT / "examples/chains", tmp_path / "chains")
    assert f"```yaml\n{(examples / 'orders.yaml').read_text().partition(chr(10))[2]}```" in PAGE
    folders: dict[str, Any] = {f"chains_{name}": examples / name for name in ("jobfolder", "depfolder")}
    commands = re.findall(r"^\$ waterclock (.*)\n((?:[^$`].*\n)*)", PAGE, re.MULTILINE)
    assert len(commands) > 15
    with running(tmp_path, **folders) as server, contextlib.chdir(examples):
        runner = CliRunner(env={"WATERCLOCK_SERVER": server.address, "WATERCLOCK_DATA_DIR": str(server.data)})
        for line, shown in commands:
            said = runner.invoke(main, shlex.split(line))
            assert said.exit_code == ENDS_OTHERWISE.get(line, 0), (line, said.output)
            pattern = re.escape(shown).replace("…", ".*")
            assert not shown or re.fullmatch(pattern, said.stdout), (line, said.stdout)
