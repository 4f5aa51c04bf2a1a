"""`waterclock secret` and `waterclock job bookmark`: content comes from files and standard input alone."""

import asyncio
import contextlib
import json
import os
import pty
import sys

import pytest

from tests.faces.api.serving import PATIENCE_SECONDS, Served
from tests.faces.cli.conftest import CommandLine


async def value_of(server: Served, name: str) -> str:
    return (await server.context.secrets.values(1, [name]))[name]


async def test_a_secret_is_read_from_a_file_as_it_is(wc: CommandLine, server: Served) -> None:
    (wc.folder / "key.pem").write_text("-----BEGIN-----\nabcd\n")
    await wc.ok("secret", "set", "tls", "--from-file", "key.pem", "--description", "for the proxy")
    assert await value_of(server, "tls") == "-----BEGIN-----\nabcd\n"
    listed = (await wc.ok("secret", "list")).splitlines()
    assert listed[0].split() == ["NAME", "VERSION", "OWNER", "UPDATED", "BY", "DESCRIPTION"]
    assert listed[1].split()[:3] == ["tls", "1", "admin"]
    (shown,) = json.loads(await wc.ok("secret", "list", "--json"))
    assert shown["description"] == "for the proxy"


@pytest.mark.parametrize("options", [(), ("--from-file", "-")])
async def test_what_is_piped_loses_the_end_of_its_last_line(
    wc: CommandLine, server: Served, options: tuple[str, ...]
) -> None:
    for given, value in (("hunter2\n", "hunter2"), ("hunter2", "hunter2"), ("hunter2\n\n", "hunter2\n")):
        said = await wc.here("secret", "set", "warehouse", *options, given=given)
        assert said.code == 0, said
        assert await value_of(server, "warehouse") == value
        assert "hunter2" not in said.out + said.err


async def test_a_secret_is_asked_for_on_a_terminal_and_not_echoed(wc: CommandLine, server: Served) -> None:
    ours, theirs = pty.openpty()
    asking = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "waterclock", "secret", "set", "warehouse"),
        env={**wc._environ, "TERM": "dumb"},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    )
    os.close(theirs)
    answering = asyncio.create_task(asyncio.to_thread(_answer, ours, b"hunter2\n"))
    try:
        code = await asyncio.wait_for(asking.wait(), PATIENCE_SECONDS)
    finally:
        with contextlib.suppress(ProcessLookupError):
            asking.kill()
    shown = await answering
    os.close(ours)
    assert code == 0, shown
    assert b"Value of warehouse" in shown
    assert b"hunter2" not in shown
    assert await value_of(server, "warehouse") == "hunter2"


async def test_secrets_are_deleted_and_sealed_again(wc: CommandLine) -> None:
    await wc.here("secret", "set", "warehouse", given="hunter2")
    done = json.loads(await wc.ok("secret", "rotate", "--json"))
    assert (done["resealed"], done["unreadable"]) == (2, 0)
    assert await wc.ok("secret", "delete", "warehouse") == "deleted warehouse\n"
    assert json.loads(await wc.ok("secret", "list", "--json")) == []


async def test_a_bookmark_is_set_shown_and_reset(wc: CommandLine, server: Served) -> None:
    await server.client.post("/jobs", json={"name": "việc/1", "kind": "python"})
    assert (await wc.here("job", "bookmark", "set", "việc/1", given='{"day": 1}\n')).code == 0
    shown = json.loads(await wc.ok("job", "bookmark", "show", "việc/1", "--json"))
    assert (shown["content"], shown["version"]) == ('{"day": 1}\n', 0)
    (wc.folder / "bookmark").write_text("7")
    assert "7" in await wc.ok("job", "bookmark", "set", "việc/1", "--from-file", "bookmark")
    assert json.loads(await wc.ok("job", "bookmark", "reset", "việc/1", "--json"))["version"] == 1


WRONG: tuple[tuple[list[str], str | bytes, str], ...] = (
    (["secret", "set", "a b"], "hunter2", "a secret's name has 1 to 128"),
    (["secret", "set", "x"], "abc", "value: must have 4 to 65536 bytes, not 3"),
    (["secret", "set", "x"], b"\xff\xfe\xfd\xfc", "standard input is not UTF-8"),
    (["secret", "set", "x", "hunter2"], "", "hunter2"),
    (["secret", "delete", "nobody"], "", "secret 'nobody' not found"),
    (["job", "bookmark", "show", "nobody"], "", "job 'nobody' not found"),
    (["job", "bookmark", "reset", "load"], "", "bookmark of job 'load' not found"),
    (["job", "bookmark", "set", "load"], "a\0b", "content: cannot hold a NUL"),
)


async def test_what_went_wrong_is_one_line_on_stderr(wc: CommandLine, server: Served) -> None:
    await server.client.post("/jobs", json={"name": "load", "kind": "python"})
    for args, given, words in WRONG:
        said = await wc.here(*args, given=given)
        assert (said.code, said.out) == (2, ""), (args, said)
        assert words in said.err
        assert said.err.count("\n") == 1
    gone = await wc.here("secret", "set", "x", "--from-file", "missing")
    assert (gone.code, gone.err) == (1, "waterclock: missing: No such file or directory\n")


def _answer(terminal: int, answer: bytes) -> bytes:
    """To each question the answer; all that was shown."""
    shown = b""
    with contextlib.suppress(OSError):  # the other side is closed
        while piece := os.read(terminal, 1024):
            shown += piece
            if piece.rstrip().endswith(b":"):
                os.write(terminal, answer)
    return shown
