"""Commands that talk to a server: what they print, where, and with which exit code."""

import asyncio
import json
import signal
import stat
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.faces.api.serving import PATIENCE_SECONDS, Served
from tests.faces.cli.conftest import CommandLine, ended
from waterclock.domain.run import RunState
from waterclock.faces.cli import main
from waterclock.faces.cli.root import COMMANDS
from waterclock.stores.ops.nodes import Node, beat

SCRIPT = "print('hello')\n"


@pytest.fixture
def script(wc: CommandLine) -> Path:
    path = wc.folder / "hello world.py"
    path.write_text(SCRIPT)
    return path


async def test_a_local_script_becomes_an_address(wc: CommandLine, script: Path, server: Served) -> None:
    await wc.ok("job", "create", "hello", "--kind", "python", "--script", script.name, "--arg", "day=today")
    shown = (await server.client.get("/jobs/hello")).json()
    assert shown["script"] == script.as_uri()
    assert shown["arguments"] == {"--day": "today"}


async def test_jobs_are_made_changed_listed_and_deleted(wc: CommandLine) -> None:
    options = ("--retries", "2", "--limit", "processes=9", "--label", "gpu", "--queueing", "--fixed-arg", "--env=x=y")
    await wc.ok("job", "create", "việc/1", "--kind", "shell", "--server-script", "a.sh", *options)
    await wc.ok("job", "update", "việc/1", "--timeout", "7")
    shown = json.loads(await wc.ok("job", "show", "việc/1", "--json"))
    assert (shown["timeout_seconds"], shown["retries"], shown["limits"]) == (7, 2, {"processes": 9})
    assert (shown["labels"], shown["queueing"], shown["fixed_arguments"]) == (["gpu"], True, {"--env": "x=y"})
    assert shown["version"] == 2
    listed = (await wc.ok("job", "list")).splitlines()
    assert listed[0].split() == ["NAME", "NAMESPACE", "KIND", "OWNER", "VERSION", "UPDATED"]
    assert listed[1].split()[:3] == ["việc/1", "api", "shell"]
    assert await wc.ok("job", "delete", "việc/1") == "deleted việc/1\n"
    assert json.loads(await wc.ok("job", "list", "--json")) == []


async def test_triggers_are_made_previewed_started_and_stopped(wc: CommandLine, server: Served) -> None:
    await server.client.post("/jobs", json={"name": "load", "kind": "python"})
    schedule = ("--schedule", "30 2 * * *", "--tz", "Europe/Berlin", "--misfire", "all", "--cap", "3", "--grace", "5")
    await wc.ok(
        "trigger", "create", "nightly", "--job", "load", *schedule, "--exclude", "2026-12-25", "--from", "2026-01-01"
    )
    shown = json.loads(await wc.ok("trigger", "show", "nightly", "--json"))
    assert shown["misfire"] == {"policy": "all", "cap": 3, "grace_seconds": 5}
    found = await wc.ok("trigger", "next", "nightly", "-n", "2", "--from", "2026-12-24T12:00:00Z")
    assert found == "2026-12-26T01:30:00Z\n2026-12-27T01:30:00Z\n"
    assert (await wc.ok("trigger", "start", "nightly")).startswith("nightly is RUNNING, next at 20")
    refused = await wc.here("trigger", "delete", "nightly")
    assert (refused.code, refused.err) == (2, "waterclock: trigger 'nightly' is RUNNING: stop it first\n")
    assert await wc.ok("trigger", "stop", "nightly") == "nightly is STOPPED\n"
    assert json.loads(await wc.ok("trigger", "fires", "nightly", "--json")) == []
    assert "30 2 * * *" in await wc.ok("trigger", "list")
    await wc.ok("trigger", "delete", "nightly")
    await wc.ok("trigger", "create", "by-hand", "--job", "load", "--arg", "a=b")
    assert await wc.ok("trigger", "start", "by-hand") == "by-hand fired\n"
    (fire,) = json.loads(await wc.ok("trigger", "fires", "by-hand", "--json"))
    assert fire["outcome"] == "FIRED"


async def test_following_shows_the_log_on_stdout_and_the_states_on_stderr(wc: CommandLine, server: Served) -> None:
    await server.client.post("/jobs", json={"name": "load", "kind": "python"})
    following = await wc.start("run", "start", "load", "--follow", "--arg", "x=1")
    held = await server.hand.begin_soon()
    # Characters that end a line for some, but not in a log that is passed on byte by byte.
    held.write("één\u2028two\x85\n".encode())
    assert following.stdout is not None
    assert (await asyncio.wait_for(following.stdout.readline(), PATIENCE_SECONDS)).decode() == "één\u2028two\x85\n"
    held.write(b"three")
    await held.end(RunState.SUCCEEDED)
    said = await ended(following)
    assert (said.code, said.out) == (0, "three")
    assert [line.split()[-1] for line in said.err.splitlines() if " is RUNNING" in line] == ["RUNNING"]
    assert " is SUCCEEDED after " in said.err


async def test_following_a_run_that_fails_says_why(wc: CommandLine, server: Served) -> None:
    await server.client.post("/jobs", json={"name": "load", "kind": "python", "retries": 1})
    following = await wc.start("run", "start", "load", "--follow")
    first = await server.hand.begin_soon()
    first.write(b"first\n")
    await first.end(RunState.FAILED, exit_code=3, message="exit code 3")
    second = await server.hand.begin_soon()
    second.write(b"second\n")
    await second.end(RunState.FAILED, exit_code=4, message="exit code 4: no luck")
    said = await ended(following)
    assert (said.code, said.out) == (1, "first\nsecond\n")
    assert said.err.splitlines()[-1].startswith("waterclock: jr_")
    assert said.err.endswith("_attempt_1 FAILED: exit code 4: no luck\n")


async def test_an_interrupt_stops_the_following_not_the_run(wc: CommandLine, server: Served) -> None:
    await server.client.post("/jobs", json={"name": "load", "kind": "python"})
    following = await wc.start("run", "start", "load", "--follow")
    held = await server.hand.begin_soon()
    held.write(b"here\n")
    assert following.stdout is not None
    assert await asyncio.wait_for(following.stdout.readline(), PATIENCE_SECONDS) == b"here\n"
    following.send_signal(signal.SIGINT)
    said = await ended(following)
    assert said.code == 130
    assert "the run goes on. Stop it with: waterclock run stop jr_" in said.err
    assert "Traceback" not in said.err
    (run,) = (await server.client.get("/runs")).json()["items"]
    assert run["state"] == "RUNNING"


async def test_logs_are_printed_as_far_as_they_go_or_followed(wc: CommandLine, server: Served) -> None:
    await server.client.post("/jobs", json={"name": "load", "kind": "python"})
    wire_id = (await wc.ok("run", "start", "load")).strip()
    held = await server.hand.begin_soon()
    held.write(b"x" * 200_000)
    assert await wc.ok("run", "logs", wire_id) == "x" * 200_000
    following = await wc.start("run", "logs", wire_id, "-f")
    held.write(b"\nend\n")
    await held.end(RunState.FAILED, exit_code=1)
    said = await ended(following)
    assert (said.code, said.out) == (0, "x" * 200_000 + "\nend\n")
    shown = json.loads(await wc.ok("run", "show", wire_id, "--json"))
    assert (shown["state"], shown["exit_code"]) == ("FAILED", 1)


async def test_stopping_waits_until_nothing_is_left(wc: CommandLine, server: Served) -> None:
    await server.client.post("/jobs", json={"name": "load", "kind": "python", "max_concurrent": 0})
    ids = [(await server.client.post("/runs", json={"job": "load"})).json()["id"] for _ in range(2)]
    held = await server.hand.begin_soon()
    stopping = await wc.start("run", "stop", *ids)
    await until_stopping(server, held.path.stem)
    await held.end(RunState.STOPPED, exit_code=None)
    said = await ended(stopping)
    assert said.code == 0
    assert sorted(said.out.splitlines()) == sorted(f"{wire_id} is STOPPED" for wire_id in ids)
    again = await wc("run", "stop", ids[0], "jr_nobody")
    assert (again.code, again.out) == (1, f"{ids[0]} is STOPPED already\n")
    assert again.err == "waterclock: run 'jr_nobody' not found\n"
    listed = json.loads(await wc.ok("run", "list", "--state", "STOPPED", "--json"))
    assert sorted(run["id"] for run in listed) == sorted(ids)


async def until_stopping(server: Served, wire_id: str) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while (await server.client.get(f"/runs/{wire_id}")).json()["state"] != "STOPPING":
            await asyncio.sleep(0.02)


async def test_users_keys_and_tokens(wc: CommandLine) -> None:
    await wc.ok("user", "add", "ann", "--role", "operator")
    await wc.ok("user", "role", "ann", "author")
    assert {user["name"]: user["role"] for user in json.loads(await wc.ok("user", "list", "--json"))}["ann"] == "author"
    made = await wc.here("key", "create", "ann")
    lines = made.out.splitlines()
    assert lines[0] == "[default]"
    assert lines[1].startswith("aws_access_key_id = AKWC")
    assert lines[2].startswith("aws_secret_access_key = ")
    key_id = lines[1].split(" = ")[1]
    assert key_id in await wc.ok("key", "list", "ann")
    assert await wc.ok("key", "revoke", key_id, "--user", "ann") == f"revoked {key_id}\n"
    token = (await wc.here("token", "create", "laptop", "--user", "ann", "--expires", "2099-01-01")).out.strip()
    assert token.startswith("wct_")
    as_ann = await wc.here("user", "add", "bob", WATERCLOCK_TOKEN=token)
    assert (as_ann.code, as_ann.err) == (2, "waterclock: user 'ann' (author) may not administer\n")
    (kept,) = [each for each in json.loads(await wc.ok("token", "list", "ann", "--json")) if each["name"] == "laptop"]
    await wc.ok("token", "revoke", kept["id"], "--user", "ann")
    await wc.ok("user", "delete", "ann")


async def test_the_status_is_shown(wc: CommandLine) -> None:
    assert "on sqlite" in (await wc("status")).out
    assert json.loads(await wc.ok("status", "--json"))["store"] == "sqlite"


async def test_the_status_says_which_role_a_node_has(wc: CommandLine, server: Served) -> None:
    for role in ("main", "bkp"):
        node = Node(id=role, host=role, name=f"{role}-host", duties=("worker",), role=role, version="1", pid=1)
        await server.database.write(beat, node=node, wall_us=0)
    shown = (await wc.ok("status")).splitlines()
    assert [line.split()[:3] for line in shown[-2:]] == [[f"{role}-host", "worker", role] for role in ("bkp", "main")]
    assert [node["role"] for node in json.loads(await wc.ok("status", "--json"))["nodes"]] == ["bkp", "main"]


WRONG = (
    (["job", "show", "nobody"], 2, "job 'nobody' not found among the names of 'api'; --namespace names another face"),
    (["job", "create", "x", "--kind", "python", "--script", "missing.py"], 2, "no such file here"),
    (["job", "create", "x", "--kind", "python", "--arg", "oops"], 2, "'oops' is not key=value"),
    (["job", "create", "x", "--kind", "python", "--limit", "memory=1"], 2, "must be one of memory_bytes"),
    (["trigger", "create", "x", "--job", "nobody"], 2, "job 'nobody' not found"),
    (["trigger", "create", "x", "--job", "nobody", "--schedule", "61 * * * *"], 2, "61"),
    (["trigger", "create", "x", "--job", "nobody", "--start"], 2, "--start needs --schedule"),
    (["run", "start", "nobody"], 2, "job 'nobody' not found"),
    (["run", "logs", "jr_nobody", "-f"], 2, "run 'jr_nobody' not found"),
    (["run", "stop"], 2, "ID..."),
    (["user", "add", "x", "--role", "boss"], 2, "boss"),
    (["nonsense"], 2, "nonsense"),
    (["status", "--server", "ftp://x"], 2, "http:// or https://"),
    (["status", "--server", "http://127.0.0.1:1"], 1, "start one with `waterclock up`"),
    (["up", "--auth", "none", "--host", "0.0.0.0"], 2, "refused on 0.0.0.0"),
)


async def test_what_went_wrong_is_one_line_on_stderr(wc: CommandLine) -> None:
    for args, code, words in WRONG:
        said = await wc.here(*args)
        assert (said.code, said.out) == (code, ""), args
        assert said.err.startswith("waterclock: ")
        assert words in said.err
        assert said.err.count("\n") == 1


async def test_an_argument_that_is_no_text_is_refused(wc: CommandLine) -> None:
    for args in (("job", "show", "\udcff"), ("run", "start", "\udcff"), ("cron", "next", "\udcff")):
        said = await wc(*args)
        assert (said.code, said.err.count("\n")) == (2, 1), said


async def test_a_log_is_printed_in_whatever_encoding(wc: CommandLine, server: Served) -> None:
    await server.client.post("/jobs", json={"name": "load", "kind": "python"})
    wire_id = await wc.ok("run", "start", "load")
    held = await server.hand.begin_soon()
    held.write("việc".encode())
    said = await wc("run", "logs", wire_id.strip(), PYTHONIOENCODING="latin-1")
    assert (said.code, said.out) == (0, "vi\\u1ec7c")


def test_a_group_alone_explains_itself() -> None:
    for args in ([], ["run"]):
        said = CliRunner().invoke(main, args)
        assert "Usage: " in said.output
        assert "Commands:" in said.output


async def test_without_a_token_it_says_where_one_is_looked_for(wc: CommandLine) -> None:
    said = await wc.here("job", "list", WATERCLOCK_DATA_DIR="/nonexistent")
    assert said.code == 2
    assert "WATERCLOCK_TOKEN" in said.err
    folder = wc.folder / ".config" / "waterclock"
    folder.mkdir(parents=True)
    (folder / "token").write_bytes(b"\xff")
    assert "cannot read the token" in (await wc.here("job", "list", WATERCLOCK_DATA_DIR="/nonexistent")).err


async def test_the_persons_own_token_is_found(wc: CommandLine, server: Served) -> None:
    folder = wc.folder / ".config" / "waterclock"
    folder.mkdir(parents=True)
    (folder / "token").write_text(server.token + "\n")
    assert (await wc.here("job", "list", WATERCLOCK_DATA_DIR="/nonexistent")).code == 0


async def test_a_name_cannot_move_the_cursor(wc: CommandLine, server: Served) -> None:
    await server.client.post("/jobs", json={"name": "a\x1b[2Jb", "kind": "python"})
    assert "\x1b" not in await wc.ok("job", "list")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself(name: str) -> None:
    said = CliRunner().invoke(main, [name, "--help"])
    assert said.exit_code == 0
    assert said.stdout.startswith("Usage: ")


def test_migrating_names_the_steps(tmp_path: Path) -> None:
    said = CliRunner().invoke(main, ["migrate", "--data-dir", str(tmp_path / "new")])
    assert (said.exit_code, "engine" in said.stdout) == (0, True), said.output
    again = CliRunner().invoke(main, ["migrate", "--data-dir", str(tmp_path / "new")])
    assert again.stdout == "the schema is up to date\n"
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o700
