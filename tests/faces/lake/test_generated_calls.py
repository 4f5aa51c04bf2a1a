"""Schemathesis on /openapi.json: whatever it makes up, it is answered as the document promises, and never by a 5xx."""

import asyncio
import sys
from pathlib import Path

import httpx
import pytest

from tests.faces.api.serving import Served
from tests.faces.lake.samples import JAVA, SQL, made
from tests.faces.lake.test_sources import made as made_source
from tests.faces.lake.test_sync_definition import TABLE
from waterclock.domain.access import Role
from waterclock.faces.lake.openapi import PATH

PROGRAM = Path(sys.executable).with_name("st")
PATIENCE_SECONDS = 170.0
# A cron expression, a time zone or a reference to a secret may fit the schema and still be none.
EXCEPT = "positive_data_acceptance"
LONG_POLL = "/schedule/job/next$"
WORKERS = "/schedule/job/(report|progress)$"


async def generated(server: Served, token: str, folder: Path, *options: str) -> None:
    """The seed is fixed: what fails once fails again."""
    command = [
        *(str(PROGRAM), "run", f"{server.url}{PATH}", "--header", f"Authorization: Bearer {token}", "--no-color"),
        *("--checks", "all", "--exclude-checks", EXCEPT, "--exclude-path-regex", LONG_POLL),
        *("--seed", "7", "--generation-database", "none", "--request-timeout", "20", "--warnings", "off", *options),
    ]
    program = await asyncio.create_subprocess_exec(
        *command, cwd=folder, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )
    try:
        said, _ = await asyncio.wait_for(program.communicate(), PATIENCE_SECONDS)
    finally:
        if program.returncode is None:
            program.kill()
            await program.wait()
    assert program.returncode == 0, said.decode()[-20_000:]


async def test_a_few_calls_of_every_kind_and_what_follows_from_them(server: Served, tmp_path: Path) -> None:
    await generated(server, server.token, tmp_path, "--phases", "fuzzing,stateful", "--max-examples", "4")


@pytest.mark.heavy
async def test_thousands_of_calls(server: Served, lake: httpx.AsyncClient, tmp_path: Path) -> None:
    """Also at the edges of every field, on a store that holds something."""
    await made_source(lake)
    for job in (JAVA, SQL, TABLE):
        await made(lake, job)
    await generated(server, server.token, tmp_path, "--max-examples", "10")


@pytest.mark.heavy
async def test_what_a_worker_calls(server: Served, tmp_path: Path) -> None:
    token = await server.token_of("w", Role.WORKER)
    await generated(server, token, tmp_path, "--include-path-regex", WORKERS, "--max-examples", "50")
