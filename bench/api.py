"""Signed Glue calls a second over kept connections, beside moto_server in turns; the API process alone, no worker."""

import argparse
import asyncio
import contextlib
import itertools
import json
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.harness import ROOT, data_dir, report, spread, store, waterclock
from waterclock.stores import Database, database_from_url
from waterclock.stores.ops.nodes import queue_sizes

JOBS = 100  # runs are started of each in turn
RUNS = 20  # and these are asked for
ACTIONS = ("CreateJob", "StartJobRun", "GetJobRun")
MOTO = ROOT / ".cache" / "peers" / "moto"


@dataclass(slots=True)
class Peer:
    """A server under test, and what was seen of it."""

    name: str
    host: str
    port: int
    key: str
    secret: str
    runs: list[tuple[str, str]] = field(default_factory=list)
    made: int = 0
    rates: dict[str, list[float]] = field(default_factory=lambda: {action: [] for action in ACTIONS})
    spans: dict[str, list[float]] = field(default_factory=lambda: {action: [] for action in ACTIONS})
    client_cpu: list[float] = field(default_factory=list)


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--db", metavar="URL", help="an empty store that is there already, instead of --store")
    parser.add_argument("--connections", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=5.0, help="of each action in each round")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--peer", choices=["moto"], help="measured in turns with us; installed on first use")


def run(given: argparse.Namespace) -> None:
    with data_dir() as folder, contextlib.ExitStack() as stack:
        url = given.db or stack.enter_context(store(given.store, folder))
        with waterclock("api", folder, url, auth="keys") as address, contextlib.ExitStack() as others:
            ours = _ours(address, folder)
            peers = [ours, *([others.enter_context(_moto())] if given.peer else [])]
            for peer in peers:
                _prepare(peer)
            for _, action, peer in itertools.product(range(given.rounds), ACTIONS, peers):
                _measure(peer, action, given)
        _check_kept(url, RUNS + len(ours.spans["StartJobRun"]))
    figures = {peer.name: _figures(peer) for peer in peers}
    _show(figures)
    report("api", store=url.partition(":")[0], connections=given.connections, **figures)


def _ours(address: str, folder: Path) -> Peer:
    lines = dict(line.split(" = ") for line in (folder / "credentials").read_text().splitlines() if " = " in line)
    host, _, port = address.removeprefix("http://").partition(":")
    key, secret = lines["aws_access_key_id"], lines["aws_secret_access_key"]
    return Peer(name="waterclock", host=host, port=int(port), key=key, secret=secret)


@contextlib.contextmanager
def _moto() -> Iterator[Peer]:
    """In an environment of its own: what it needs is no business of ours."""
    server = MOTO / "bin" / "moto_server"
    if not server.exists():
        subprocess.run([sys.executable, "-m", "venv", str(MOTO)], check=True)
        subprocess.run([str(MOTO / "bin" / "pip"), "install", "-q", "moto[server]"], check=True)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [str(server), "-H", "127.0.0.1", "-p", str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        _wait_for(port)
        yield Peer(name="moto", host="127.0.0.1", port=port, key="testing", secret="testing")
    finally:
        process.terminate()
        process.wait(timeout=30)


def _wait_for(port: int) -> None:
    for _ in range(300):
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        time.sleep(0.1)
    raise SystemExit("moto_server did not start within 30 s")


def _prepare(peer: Peer) -> None:
    """The jobs that runs are started of, and the runs that are asked for."""
    _call(peer, "CreateJob", [_job("bench {n}")], calls=JOBS)
    names = [f"bench {number}" for number in range(RUNS)]
    started = _call(peer, "StartJobRun", [json.dumps({"JobName": name}) for name in names], calls=RUNS)
    peer.runs = [(name, answer["JobRunId"]) for name, answer in zip(names, started["samples"], strict=True)]
    peer.made = JOBS


def _measure(peer: Peer, action: str, given: argparse.Namespace) -> None:
    bodies = _bodies(peer, action)
    figures = _call(peer, action, bodies, connections=given.connections, seconds=given.seconds, calls=10_000_000)
    peer.made += figures["calls"]
    peer.rates[action].append(figures["calls"] / figures["seconds"])
    peer.spans[action] += figures["spans"]
    peer.client_cpu.append(figures["cpu_seconds"] / figures["calls"])


def _bodies(peer: Peer, action: str) -> list[str]:
    match action:
        case "CreateJob":
            return [_job("made {n}")]
        case "StartJobRun":
            return [json.dumps({"JobName": f"bench {number}"}) for number in range(JOBS)]
    return [json.dumps({"JobName": name, "RunId": run_id}) for name, run_id in peer.runs]


def _job(name: str) -> str:
    command = {"Name": "pythonshell", "ScriptLocation": "s3://bucket/script.py"}
    return json.dumps({"Name": name, "Role": "r", "Command": command, "ExecutionProperty": {"MaxConcurrentRuns": 9999}})


def _call(
    peer: Peer, action: str, bodies: list[str], *, calls: int, connections: int = 1, seconds: float = 60.0
) -> dict[str, Any]:
    order = {"host": peer.host, "port": peer.port, "key": peer.key, "secret": peer.secret, "first": peer.made}
    order |= {"action": action, "bodies": bodies, "calls": calls, "connections": connections, "seconds": seconds}
    caller = [sys.executable, "-m", "bench.caller"]
    client = subprocess.run(caller, input=json.dumps(order), check=True, stdout=subprocess.PIPE, text=True, cwd=ROOT)
    figures: dict[str, Any] = json.loads(client.stdout)
    return figures


def _check_kept(url: str, acknowledged: int) -> None:
    """Every run whose start was acknowledged is in the store, once; nobody was there to run them."""
    kept = asyncio.run(_live_runs(database_from_url(url)))
    if kept != acknowledged:
        raise SystemExit(f"{acknowledged} starts were acknowledged, but {kept} runs are kept")


async def _live_runs(database: Database) -> int:
    await database.open()
    try:
        return sum((await database.read(queue_sizes)).values())
    finally:
        await database.close()


def _figures(peer: Peer) -> dict[str, Any]:
    return {
        action: {
            "per_second": round(statistics.median(peer.rates[action])),
            "rounds": [round(rate) for rate in peer.rates[action]],
            "milliseconds": {name: round(1000 * span, 2) for name, span in spread(peer.spans[action]).items()},
        }
        for action in ACTIONS
    } | {"client_us_per_call": round(1e6 * statistics.median(peer.client_cpu))}


def _show(figures: dict[str, Any]) -> None:
    print(f"{'':14}" + "".join(f"{name + '/s':>14}{'p50 ms':>9}{'p99 ms':>9}" for name in figures), file=sys.stderr)
    for action in ACTIONS:
        cells = ""
        for peer in figures.values():
            one, spans = peer[action], peer[action]["milliseconds"]
            cells += f"{one['per_second']:>14}{spans['p50']:>9}{spans['p99']:>9}"
        rates = [peer[action]["per_second"] for peer in figures.values()]
        ratio = f"   x{rates[0] / rates[1]:.1f}" if len(rates) > 1 else ""
        print(f"{action:14}{cells}{ratio}", file=sys.stderr)
