"""`waterclock chain run --follow` and `watch`: on a terminal, in a pipe, through a restart, and broken off."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from urllib.parse import urlsplit

import httpx
import pytest

from tests.faces.api.serving import PATIENCE_SECONDS, Served
from tests.faces.chains.hand import ChainHand, made, started
from tests.faces.cli.conftest import CommandLine, ended
from tests.faces.cli.terminal import Terminal
from waterclock.domain.access import Caller, Role
from waterclock.domain.flow import FlowState
from waterclock.domain.gate import Verdict
from waterclock.domain.run import RunState
from waterclock.faces.cli.chain.watching import believed

ADMIN = Caller(user="admin", org_id=1, account="", role=Role.ADMIN, address="", request_id="")


@pytest.fixture
async def chains(server: Served) -> AsyncIterator[httpx.AsyncClient]:
    headers = {"authorization": f"Bearer {server.token}"}
    async with httpx.AsyncClient(base_url=server.url, headers=headers, timeout=PATIENCE_SECONDS) as client:
        yield client


@pytest.fixture
def hand(server: Served) -> ChainHand:
    return ChainHand(server.database)


async def in_terminal(wc: CommandLine, terminal: Terminal, *args: str) -> asyncio.subprocess.Process:
    """Its session's terminal, so that Ctrl-C means what it means."""
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", LEAD, *args),
        stdin=terminal.slave,
        stdout=terminal.slave,
        stderr=terminal.slave,
        env={**wc._environ, "TERM": "xterm"},
        cwd=wc.folder,
        start_new_session=True,
    )


LEAD = """\
import fcntl, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
from waterclock.faces.cli import main
main()
"""


async def until_told(process: asyncio.subprocess.Process, words: str) -> None:
    assert process.stderr is not None
    async with asyncio.timeout(PATIENCE_SECONDS):
        while words not in (line := (await process.stderr.readline()).decode()):
            assert line, "it ended before"


async def test_on_a_terminal_a_run_is_drawn_in_place_level_by_level(
    wc: CommandLine, chains: httpx.AsyncClient, hand: ChainHand
) -> None:
    await made(chains, timezone="Asia/Seoul")
    terminal = Terminal(100, 30)
    watching = await in_terminal(wc, terminal, "chain", "run", "orders", "--follow")
    await terminal.until(lambda: terminal.shows("orders · run 1 · RUNNING..."))
    assert terminal.shows("gates: 1 RUNNING... · times in Asia/Seoul")
    assert terminal.shows("  WAITING     load EU")
    await hand.probe(Verdict.NOT_YET, output="1\n")
    await terminal.until(lambda: terminal.shows("1 probe, last at "))
    await hand.probe(Verdict.PASSED, output="0\n")
    begun = await hand.begin()
    await terminal.until(lambda: terminal.shows("  RUNNING...  load EU"))
    drawn = terminal.redraws
    await terminal.until(lambda: terminal.redraws > drawn + 1)
    assert sum("orders · run 1" in line for line in terminal.screen) == 1
    for attempt in begun.values():
        await hand.end(attempt)
    await hand.end((await hand.begin())["sum.py"], RunState.FAILED, exit_code=7, message="exit code 7")
    assert await asyncio.wait_for(watching.wait(), PATIENCE_SECONDS) == 1
    terminal.columns = 200  # what is printed at the end may wrap
    terminal.take()
    assert terminal.cursor_is_shown
    assert sum("orders · run 1" in line for line in terminal.screen) == 1
    assert terminal.screen[0].startswith("orders · run 1 · Failed")
    assert terminal.shows("  Failed      orders/sum.py")
    assert terminal.shows("  SKIPPED     orders/mail.py")
    terminal.close()


async def test_ctrl_c_leaves_the_chain_running_and_the_cursor_where_it_was(
    wc: CommandLine, chains: httpx.AsyncClient
) -> None:
    await made(chains)
    run_id = await started(chains, 1)
    terminal = Terminal(60, 6)  # too low for all of it
    watching = await in_terminal(wc, terminal, "chain", "watch", str(run_id))
    await terminal.until(lambda: terminal.shows("more lines: make the window higher"))
    assert len(terminal.screen) <= 6
    terminal.interrupt()
    assert await asyncio.wait_for(watching.wait(), PATIENCE_SECONDS) == 130
    terminal.columns = 200  # what follows may wrap
    terminal.take()
    assert terminal.cursor_is_shown
    assert terminal.shows(f"the chain goes on. Stop it with: waterclock chain stop {run_id}")
    assert not terminal.shows("Traceback")
    assert (await chains.get(f"/chains/runs/{run_id}")).json()["status"] == "RUNNING..."
    terminal.close()


async def test_in_a_pipe_each_change_is_a_line_and_the_whole_comes_last(
    wc: CommandLine, chains: httpx.AsyncClient, hand: ChainHand
) -> None:
    await made(chains)
    following = await wc.start("chain", "run", "1", "--follow")
    await until_told(following, "run 1 of orders is RUNNING...")
    await hand.finish()
    said = await ended(following)
    assert said.code == 0, said
    assert "orders are there is Success: passed at " in said.err
    assert "load EU is Success: " in said.err
    assert "run 1 of orders is Success" in said.err
    assert "\x1b" not in said.err + said.out
    assert said.out.startswith("orders · run 1 · Success")
    again = await wc.here("chain", "watch", "1", "--json")
    assert (again.code, json.loads(again.out)["status"]) == (0, "Success")


async def test_a_run_that_was_killed_ends_with_1(
    wc: CommandLine, server: Served, chains: httpx.AsyncClient, hand: ChainHand
) -> None:
    await made(chains)
    following = await wc.start("chain", "run", "orders", "-f")
    await until_told(following, "is RUNNING...")
    (probe,) = (await hand.begin()).values()
    stopping = await wc.start("chain", "stop", "--chain", "orders")
    async with asyncio.timeout(PATIENCE_SECONDS):
        while (await server.context.chains.run(ADMIN, 1)).run.state is not FlowState.STOPPING:
            await asyncio.sleep(0.02)
    assert await wc.ok("chain", "stop", "1", "--no-wait") == "run 1 is RUNNING...\n"
    await hand.end(probe, RunState.STOPPED, exit_code=None)
    killed = await ended(stopping)
    assert (killed.code, killed.out) == (0, "run 1 is KILLED\n")
    assert (await ended(following)).code == 1
    again = await wc.here("chain", "stop", "1")
    assert (again.code, again.err) == (2, "waterclock: run 1 has ended already\n")
    none = await wc.here("chain", "stop", "--chain", "orders")
    assert (none.code, none.err) == (2, "waterclock: chain 1 (orders) has no live run\n")


class Relay:
    """An address that comes and goes while the server behind it stays: what a restart looks like from outside."""

    def __init__(self, url: str) -> None:
        self._behind = urlsplit(url)
        self._open: list[asyncio.StreamWriter] = []
        self._server: asyncio.Server | None = None
        self.port = 0

    async def come(self) -> None:
        self._server = await asyncio.start_server(self._pass_on, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    def go(self) -> None:
        assert self._server is not None
        self._server.close()
        for writer in self._open:
            writer.close()

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        from_server, to_server = await asyncio.open_connection(self._behind.hostname, self._behind.port)
        self._open += [writer, to_server]
        await asyncio.gather(_pump(reader, to_server), _pump(from_server, writer))


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError):
        while data := await reader.read(65_536):
            writer.write(data)
    writer.close()


async def test_a_server_that_restarts_is_waited_for(
    wc: CommandLine, server: Served, chains: httpx.AsyncClient, hand: ChainHand
) -> None:
    await made(chains)
    relay = Relay(server.url)
    await relay.come()
    following = await wc.start("chain", "run", "orders", "-f", "--server", f"http://127.0.0.1:{relay.port}")
    await until_told(following, "run 1 of orders is RUNNING...")
    relay.go()
    await until_told(following, "trying again in 0.5 s")
    await hand.finish()
    await relay.come()
    said = await ended(following)
    assert (said.code, said.out.startswith("orders · run 1 · Success")) == (0, True)
    relay.go()


def test_our_clock_is_believed_only_where_the_servers_does_not_contradict_it() -> None:
    ours = datetime(2026, 11, 15, 12, 0, 1, 500_000, tzinfo=UTC)
    assert believed(None, ours) == ours
    assert believed(ours - timedelta(seconds=1.5), ours) == ours
    for wrong in (timedelta(hours=9), -timedelta(seconds=5)):
        assert believed(ours + wrong, ours) == ours + wrong
