"""`waterclock chaos` on a running server: nothing is wrong though its engine is killed, and nothing is left behind."""

import json
import sys
from pathlib import Path

import pytest

from tests.acceptance.server import Server, running

KILL = """
import os, signal, sys
from pathlib import Path
for process in Path("/proc").glob("[0-9]*"):
    words, environ = (process / "cmdline").read_bytes(), (process / "environ").read_bytes()
    if b"waterclock.app.launch\\0engine\\0" in words and sys.argv[1].encode() in environ:
        os.kill(int(process.name), signal.SIGKILL)
"""


@pytest.mark.chaos
def test_a_set_up_is_tried_while_its_engine_is_killed_and_what_is_wrong_is_shown(tmp_path: Path) -> None:
    killer = tmp_path / "kill.py"
    killer.write_text(KILL)
    with running(tmp_path, lease_seconds=5, lease_margin_seconds=1, heartbeat_seconds=1) as server:
        neighbour = ("job", "create", "neighbour", "--kind", "shell", "--script", "/bin/true")
        assert server.cli(*neighbour).returncode == 0
        kill = f"{sys.executable} {killer} WATERCLOCK_DATA_DIR={server.data}"
        timing = ("--seconds", "3", "--triggers", "3", "--every", "1", "--kill-every", "2")
        said = server.cli("chaos", *timing, "--kill-command", kill, "--json")
        assert said.returncode == 0, said.stdout + said.stderr
        found = json.loads(said.stdout)
        assert (found["kills"], found["fires"] >= 3) == (1, True)
        assert not any(found["findings"].values())
        assert _names(server, "job") == ["neighbour"]
        assert _names(server, "trigger") == []

        said = server.cli("chaos", "--seconds", "2", "--triggers", "1", "--every", "1", "--late", "0")
        assert said.returncode == 1, said.stderr
        assert "late: starts after the bound (--late)" in said.stdout
        assert _names(server, "job") == ["neighbour"]


def _names(server: Server, kind: str) -> list[str]:
    return [each["name"] for each in json.loads(server.cli(kind, "list", "--json").stdout)]
