"""What the server promises about its callers, tried on processes of its own."""

import json
import os
import stat
import tempfile
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from tests.acceptance.server import Server, running, until
from tests.acceptance.test_roles import role

REVOKED_WITHIN_SECONDS = 5.0
LOOK = """
import os, sys
folder = sys.argv[-1]
names = ("credentials", "token", "secret.keys", "waterclock.db", "waterclock.db-wal", "supervisor", "audit")
print(os.getuid(), [name for name in names if os.access(f"{folder}/{name}", os.R_OK)])
"""


def client(server: Server, key: dict[str, str], port: int | None = None) -> Any:
    """With this key, also to another process of the same store."""
    return boto3.Session(key["id"], key["secret"], region_name="us-east-1").client(
        "glue",
        endpoint_url=f"http://127.0.0.1:{port or server.port}",
        config=Config(retries={"total_max_attempts": 1}, read_timeout=20),
    )


def answers(glue: Any) -> bool:
    try:
        glue.get_jobs()
    except (ClientError, BotoCoreError):
        return False
    return True


def made(server: Server, *arguments: str) -> Any:
    said = server.cli(*arguments)
    assert said.returncode == 0, said.stderr
    return json.loads(said.stdout) if "--json" in arguments else said.stdout


@pytest.mark.parametrize("store", ["sqlite", "postgres"])
def test_no_answered_call_is_missing_from_the_audit_after_kill_9(
    store: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    url = "" if store == "sqlite" else str(request.getfixturevalue(f"{store}_url"))
    with running(tmp_path, url) as server:
        glue = server.glue(retries=1)
        answered = []
        for _ in range(3):
            answered += [glue.get_jobs(MaxResults=7)["ResponseMetadata"]["RequestId"] for _ in range(40)]
            server.kill("api")
            until(lambda: answers(glue), "the API never came back")
        found: Counter[str] = Counter()

        def all_found() -> bool:
            nonlocal found
            entries = made(server, "audit", "--action", "GetJobs", "-n", "1000", "--json")
            found = Counter(entry["request_id"] for entry in entries)
            return found.keys() >= set(answered)

        until(all_found, "answered calls are missing from the audit")
        assert max(found.values()) == 1
        assert len(list((server.data / "audit").glob("*.journal"))) == 1  # the dead ones' were taken over


def test_a_key_revoked_in_one_process_is_refused_by_another_within_seconds(tmp_path: Path) -> None:
    server, beside = Server(tmp_path), Server(tmp_path)
    with ExitStack() as processes:
        for each in (server, beside):
            process = processes.enter_context(role(each, "api"))
            assert process.stdout
            assert process.stdout.readline() == f"ready {each.address}\n"
        key = made(server, "key", "create", "--json")
        there = client(server, key, beside.port)
        assert answers(there)
        made(server, "key", "revoke", key["id"])
        assert not answers(client(server, key))
        until(lambda: not answers(there), "a revoked key still works", seconds=REVOKED_WITHIN_SECONDS)


def test_what_is_secret_is_sealed_and_for_our_eyes_alone(tmp_path: Path) -> None:
    with running(tmp_path) as server:
        key = made(server, "key", "create", "--json")
        assert answers(client(server, key))
        token = made(server, "token", "create", "t").strip()
        assert key["secret"] not in str(made(server, "key", "list", "--json"))
        assert token not in str(made(server, "token", "list", "--json"))
        admin = dict(line.split(" = ") for line in (server.data / "credentials").read_text().splitlines()[1:])
        secrets = [key["secret"], token, admin["aws_secret_access_key"], (server.data / "token").read_text().strip()]
        server.stop()
        for name in ("credentials", "token", "secret.keys"):
            assert stat.S_IMODE((server.data / name).stat().st_mode) == 0o600, name
        assert stat.S_IMODE(server.data.stat().st_mode) == 0o700
        ours = {server.data / "credentials", server.data / "token"}  # the admin's own, made for them
        for path in server.data.rglob("*"):
            if path.is_file() and path not in ours:
                data = path.read_bytes()
                assert not [secret for secret in secrets if secret.encode() in data], path
        assert not [secret for secret in secrets if secret in server.errors()]


def test_the_first_start_ships_no_secret_of_its_own(tmp_path: Path) -> None:
    """Two installations have nothing in common that opens them."""
    found = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        server = Server(tmp_path / name)
        with role(server, "api") as process:
            assert process.stdout
            assert process.stdout.readline().startswith("ready ")
            found.append([(server.data / each).read_text() for each in ("credentials", "token", "secret.keys")])
    assert not set(found[0]) & set(found[1])


def test_programs_of_another_user_reach_their_folders_and_nothing_else_of_ours() -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can run a program as another user")
    with tempfile.TemporaryDirectory() as name, running(Path(name), worker_user="nobody") as server:
        Path(name).chmod(0o711)
        script = Path(name) / "look.py"
        script.write_text(LOOK)
        script.chmod(0o644)
        made(server, "job", "create", "look", "--kind", "python", "--script", script.as_uri())
        said = server.cli("run", "start", "look", "--follow", "--arg", f"--folder={server.data}")
    assert said.returncode == 0, said.stderr
    assert said.stdout.split() == ["65534", "[]"], said.stdout
