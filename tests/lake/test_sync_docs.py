"""The newcomer's commands of docs/sync.md, word by word, against `waterclock up` and a real PostgreSQL."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.acceptance.server import REPO, Server, running
from tests.lake.shops import asked

pytestmark = pytest.mark.heavy

PATIENCE_SECONDS = 60.0


@pytest.fixture(scope="module")
def server(lake_python: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("newcomer")
    with running(folder, sync_python=lake_python, lake_private="true") as made:
        yield made


def commands(number: int) -> str:
    """Of the page's first section: the lines of that example."""
    section = (REPO / "docs/sync.md").read_text().partition("## A table by two commands")[2].partition("\n## ")[0]
    example = re.findall(r"```console\n(.*?)```", section, re.DOTALL)[number]
    return "\n".join(line.removeprefix("$ ") for line in example.splitlines())


def said(server: Server, script: str) -> str:
    """By a shell that finds `waterclock` and, in place of `.waterclock`, the server's data."""
    script = script.replace(".venv/bin/python", sys.executable).replace("$PWD/.waterclock", str(server.data))
    waterclock = f'waterclock() {{ {sys.executable} -m waterclock "$@"; }}\n'
    ran = subprocess.run(
        ["bash", "-ec", waterclock + script.replace(".waterclock", str(server.data))],
        cwd=server.data.parent,
        env=server.environment,
        timeout=PATIENCE_SECONDS,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def test_a_table_of_sqlite_is_synced_by_two_commands(server: Server) -> None:
    assert "lake/orders: 1000 rows" in said(server, commands(0))


def test_and_one_of_postgresql(server: Server, postgres_url: str) -> None:
    asked(postgres_url, "CREATE TABLE orders AS SELECT n AS id FROM generate_series(1, 300) n")
    parts = urlsplit(postgres_url)
    (server.data.parent / "pw").write_text("not asked for\n")
    script = commands(1).replace("5432", str(parts.port)).replace("--database shop", f"--database {parts.path[1:]}")
    assert "lake/db_orders: 300 rows" in said(server, script.replace("--user reader", f"--user {parts.username}"))
