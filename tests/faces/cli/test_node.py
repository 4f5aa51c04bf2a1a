"""`waterclock node` and `status`: nodes by name, drained with progress, warnings on top."""

import asyncio
import json
import re
import signal
from dataclasses import replace

from tests.faces.api.serving import PATIENCE_SECONDS, Served
from tests.faces.cli.conftest import CommandLine, ended
from waterclock.domain.moment import SECOND
from waterclock.stores.ops.nodes import Node, Pulse, beat

ONE = Node(id="3f2a-one", host="h", name="eins", duties=("worker",), slots=4, version="1", pid=7)
HTTP = replace(ONE, id="77aa-http", duties=("api",), slots=0)


async def heard(server: Served, node: Node = ONE, pulse: Pulse | None = None) -> bool:
    now = await server.context.cluster.now()
    return (await server.database.write(beat, node=node, wall_us=now, pulse=pulse or Pulse())).draining


async def test_nodes_are_listed_drained_and_resumed_by_name_or_the_beginning_of_an_id(
    wc: CommandLine, server: Served
) -> None:
    await heard(server)
    assert [node["id"] for node in json.loads(await wc.ok("node", "list", "--json"))] == [ONE.id]
    assert await wc.ok("node", "drain", "eins") == "eins (3f2a-one) is draining (0 running)\n"
    await heard(server, pulse=Pulse(running=3))
    assert "draining (3 running)" in await wc.ok("status")
    await heard(server, pulse=Pulse(drained=True))
    assert (await wc.ok("node", "list")).splitlines()[1].split()[:4] == [ONE.id, "eins", "worker", "drained"]
    assert json.loads(await wc.ok("node", "resume", "3f2a", "--json"))[0]["standing"] == "live"


async def test_a_name_that_fits_several_nodes_is_refused_with_their_ids(wc: CommandLine, server: Served) -> None:
    for node in (ONE, HTTP):
        await heard(server, node)
    said = await wc.here("node", "drain", "eins")
    assert (said.code, said.out) == (2, "")
    assert "'eins' fits 2 nodes" in said.err
    assert f"{ONE.id} (worker)" in said.err
    assert f"{HTTP.id} (api)" in said.err
    assert (await wc.ok("node", "drain", "eins", "--all")).count("is draining") == 2
    assert await wc.ok("node", "resume", HTTP.id) == f"eins ({HTTP.id}) is live\n"
    unknown = await wc.here("node", "drain", "3f2")
    assert (unknown.code, unknown.err) == (2, "waterclock: no node '3f2': see `waterclock node list`\n")


async def until_draining(server: Served) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not await heard(server, pulse=Pulse(running=2)):
            await asyncio.sleep(0.02)


async def told(process: asyncio.subprocess.Process, line: bytes) -> None:
    """Whatever it said before."""
    assert process.stderr is not None
    async with asyncio.timeout(PATIENCE_SECONDS):
        while await process.stderr.readline() != line:
            pass


async def test_waiting_tells_what_runs_and_ends_when_nothing_does(wc: CommandLine, server: Served) -> None:
    await heard(server)
    waiting = await wc.start("node", "drain", "eins", "--wait")
    await until_draining(server)
    await told(waiting, b"waterclock: 2 running on eins (3f2a-one)\n")
    await heard(server, pulse=Pulse(drained=True))
    said = await ended(waiting)
    assert (said.code, said.out) == (0, "eins (3f2a-one) is drained\n")


async def test_waiting_for_a_node_that_is_lost_or_resumed_ends_with_the_reason(wc: CommandLine, server: Served) -> None:
    await heard(server)
    waiting = asyncio.create_task(wc.here("node", "drain", "eins", "--wait"))
    await until_draining(server)
    assert await wc.ok("node", "resume", "eins")
    assert "was resumed meanwhile" in (said := await waiting).err
    assert said.code == 1
    waiting = asyncio.create_task(wc.here("node", "drain", "eins", "--wait"))
    await until_draining(server)
    server.database.offset_us += 40 * SECOND
    assert "gave no heartbeat" in (said := await waiting).err
    assert said.code == 1


async def test_an_interrupted_wait_leaves_the_drain_as_it_is(wc: CommandLine, server: Served) -> None:
    await heard(server)
    process = await wc.start("node", "drain", "eins", "--wait")
    await told(process, b"waterclock: 0 running on eins (3f2a-one)\n")
    process.send_signal(signal.SIGINT)
    said = await ended(process)
    assert said.code == 130
    assert "the drain goes on" in said.err
    assert await heard(server)


async def test_the_status_begins_with_what_is_wrong_and_marks_a_skewed_clock(wc: CommandLine, server: Served) -> None:
    now = await server.context.cluster.now()
    await server.database.write(beat, node=ONE, wall_us=now + 9 * SECOND)
    lines = (await wc.ok("status")).splitlines()
    assert lines[2] == "warning: no scheduler lives: nothing fires (waterclock scheduler)"
    assert re.match(r"warning: eins \(worker, 3f2a-one\): its clock is \+[5-9]\.\d s from the store's", lines[3])
    assert re.search(r"\+[5-9]\.\d{3} s !", lines[-1])


OLDER = {
    "version": "0.0.9",
    "store": "sqlite",
    "auth": "keys",
    "now": "2026-11-16T10:00:00Z",
    "queues": {"RUNNING": 1},
    "nodes": [
        {
            "id": "x",
            "name": "old",
            "duties": ["worker"],
            "role": "main",
            "labels": [],
            "slots": 4,
            "version": "0.0.9",
            "pid": 7,
            "skew_seconds": 0.0,
            "started_at": "2026-11-16T09:00:00Z",
            "heartbeat_at": "2026-11-16T10:00:00Z",
        }
    ],
}


async def test_the_status_of_a_server_of_the_version_before_is_shown(wc: CommandLine) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        body = json.dumps(OLDER).encode()
        writer.write(b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: %d\r\n\r\n%s" % (len(body), body))
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as older:
        port = older.sockets[0].getsockname()[1]
        shown = await wc.ok("status", "--server", f"http://127.0.0.1:{port}")
    assert shown.splitlines()[-1].split()[:4] == ["old", "worker", "main", "live"]


async def test_a_check_says_which_steps_a_migration_would_take(wc: CommandLine, server: Served) -> None:
    said = await wc.here("migrate", "--check")
    assert (said.code, said.out) == (0, "the schema is up to date\n")
    fresh = await wc.here("migrate", "--check", "--data-dir", str(server.folder / "new"))
    assert fresh.code == 1
    assert fresh.out.splitlines()[0] == "to be taken: engine"
    assert not (server.folder / "new").exists()
