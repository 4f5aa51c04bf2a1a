"""`waterclock channel`: addresses come from standard input or a file, and are never shown again."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.faces.api.serving import Served, served
from tests.faces.cli.conftest import CommandLine
from tests.services.listening import Webhook


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Served]:
    """One whose admin allows addresses of this host."""
    folder = tmp_path / "data"
    folder.mkdir()
    async with served(folder, private=True) as running:
        yield running


async def test_a_channel_is_added_tried_switched_and_removed(wc: CommandLine) -> None:
    with Webhook(200, 500) as hook:
        said = await wc.here("channel", "add", "ops", "--tag", "*", "--kind", "late", given=f"{hook.address}\n")
        assert (said.code, said.err) == (0, "")
        assert await wc.ok("channel", "test", "ops") == "sent through ops\n"
        failed = await wc.here("channel", "test", "ops")
        assert (failed.code, failed.out) == (1, "")
        assert failed.err.startswith("waterclock: ops: Failed to send JSON")
    assert await wc.ok("channel", "off", "ops") == "ops is off\n"
    head, row = (await wc.ok("channel", "list")).splitlines()
    assert head.split() == ["NAME", "ON", "URL", "TAGS", "KINDS", "SENT", "FAILED", "ERROR"]
    assert row.split()[:5] == ["ops", "no", f"json://ann:****@127.0.0.1:{hook.port}/***", "*", "late"]
    assert await wc.ok("channel", "on", "ops") == "ops is on\n"
    (shown,) = json.loads(await wc.ok("channel", "list", "--json"))
    assert shown == json.loads(await wc.ok("channel", "show", "ops", "--json"))
    assert (shown["on"], shown["tags"], shown["kinds"]) == (True, ["*"], ["late"])
    assert "pass-word" not in said.out + failed.err + row
    assert await wc.ok("channel", "rm", "ops") == "removed ops\n"
    assert json.loads(await wc.ok("channel", "list", "--json")) == []


async def test_an_address_comes_from_a_file_or_as_it_is(wc: CommandLine) -> None:
    (wc.folder / "address").write_text("json://127.0.0.1:9/one\n")
    await wc.ok("channel", "add", "one", "--from-file", "address", "--off")
    await wc.ok("channel", "add", "two", "--url", "json://127.0.0.1:9", "--severity", "error", "--severity", "warning")
    one, two = json.loads(await wc.ok("channel", "list", "--json"))
    assert (one["url"], one["on"], two["url"]) == ("json://127.0.0.1:9/***", False, "json://127.0.0.1:9")
    assert two["severities"] == ["error", "warning"]


WRONG: tuple[tuple[list[str], str], ...] = (
    (["add", "x", "--url", "file:///etc/passwd"], "url: the scheme 'file' is not served"),
    (["add", "x", "--url", "json://h", "--from-file", "f"], "give --url or --from-file, not both"),
    (["add", "x", "--url", "json://127.0.0.1:9", "--kind", "lat"], "kinds[0]: must be one of bookmark, late"),
    (["show", "x"], "channel 'x' not found"),
    (["off", "x"], "channel 'x' not found"),
    (["rm", "x"], "channel 'x' not found"),
    (["test", "x"], "channel 'x' not found"),
)


async def test_what_went_wrong_is_one_line_on_stderr(wc: CommandLine) -> None:
    for args, words in WRONG:
        said = await wc.here("channel", *args)
        assert (said.code, said.out) == (2, ""), (args, said)
        assert words in said.err
        assert said.err.count("\n") == 1
