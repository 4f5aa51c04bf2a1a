"""Groups and the audit on the command line."""

import asyncio
import json

from tests.faces.api.serving import PATIENCE_SECONDS, Served
from tests.faces.cli.conftest import CommandLine


async def test_a_group_is_made_filled_used_and_deleted(wc: CommandLine, server: Served) -> None:
    await wc.ok("user", "add", "ann", "--role", "author")
    assert "waterclock group add etl" in await wc.ok("group", "create", "etl")
    assert await wc.ok("group", "add", "etl", "ann") == "ann is in etl\n"
    assert (await wc.ok("group", "list")).split() == ["NAME", "MEMBERS", "etl", "ann"]
    assert json.loads(await wc.ok("group", "list", "--json"))[0]["members"] == ["ann"]
    assert "aws_secret_access_key" in await wc.ok("key", "create", "ann", "--group", "etl")
    assert json.loads(await wc.ok("key", "list", "ann", "--json"))[0]["group"] == "etl"
    token = json.loads(await wc.ok("token", "create", "t", "--user", "ann", "--group", "etl", "--json"))["token"]
    assert "etl" in await wc.ok("token", "list", "ann")
    async with server.as_user(token) as ann:
        assert (await ann.post("/jobs", json={"name": "load", "kind": "python"})).json()["owner"] == "etl"
    refused = await wc.here("group", "delete", "etl")
    assert (refused.code, "still owns 1 job" in refused.err) == (2, True)
    await wc.ok("job", "delete", "load")
    await wc.ok("group", "remove", "etl", "ann")
    assert await wc.ok("group", "delete", "etl") == "deleted etl\n"


async def test_a_quota_is_set_shown_and_removed(wc: CommandLine) -> None:
    await wc.ok("user", "add", "ann", "--role", "author")
    assert await wc.ok("quota", "set", "live_runs", "20") == "live_runs: 20 for everybody else\n"
    assert await wc.ok("quota", "set", "jobs", "5", "--user", "ann") == "jobs: 5 for ann\n"
    lines = (await wc.ok("quota", "list")).splitlines()
    assert [line.split() for line in lines] == [
        ["KIND", "USER", "MOST", "USED"],
        ["jobs", "ann", "5", "0"],
        ["live_runs", "(everybody", "else)", "20", "-"],
    ]
    assert json.loads(await wc.ok("quota", "list", "--json"))[0]["most"] == 5
    await wc.ok("quota", "remove", "jobs", "--user", "ann")
    refused = await wc.here("quota", "remove", "jobs", "--user", "ann")
    assert (refused.code, refused.err) == (2, "waterclock: quota 'jobs of ann' not found\n")
    assert "waterclock quota set live_runs" in await wc.ok("quota", "--help")


async def test_a_clash_of_names_is_one_line_on_stderr(wc: CommandLine) -> None:
    said = await wc.here("group", "create", "admin")
    assert (said.code, said.err) == (2, "waterclock: user 'admin' already exists\n")


async def test_the_audit_is_shown(wc: CommandLine) -> None:
    await wc.ok("user", "add", "ann")
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not (shown := json.loads(await wc.ok("audit", "--action", "POST /api/v1/users", "--json"))):
            pass
    assert [(entry["user"], entry["resource"], entry["status"]) for entry in shown] == [("admin", "ann", 201)]
    head, line = (await wc.ok("audit", "--resource", "ann", "--user", "admin", "--since", "2020-01-01")).splitlines()
    assert head.split() == ["AT", "USER", "ADDRESS", "ACTION", "RESOURCE", "STATUS", "ERROR", "MS"]
    assert "POST /api/v1/users" in line
    assert len(json.loads(await wc.ok("audit", "-n", "1", "--json"))) == 1
    assert json.loads(await wc.ok("audit", "--unknown", "--json")) == []
    assert json.loads(await wc.ok("audit", "--until", "2020-01-01", "--json")) == []
