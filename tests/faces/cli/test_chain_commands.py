"""`waterclock chain`: what its commands print, what they change, and with which exit code they end."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from tests.faces.api.serving import PATIENCE_SECONDS, Served
from tests.faces.chains.hand import ChainHand, body, made
from tests.faces.cli.conftest import CommandLine
from waterclock.domain.access import Role
from waterclock.domain.gate import Verdict
from waterclock.domain.run import RunState

EXAMPLES = Path(__file__).parents[3] / "examples/chains"
JOBS = "jobs: [{command: a.py, step_lvl: 1, ottime: 1}]"


@pytest.fixture
async def chains(server: Served) -> AsyncIterator[httpx.AsyncClient]:
    headers = {"authorization": f"Bearer {server.token}"}
    async with httpx.AsyncClient(base_url=server.url, headers=headers, timeout=PATIENCE_SECONDS) as client:
        yield client


@pytest.fixture
def hand(server: Served) -> ChainHand:
    return ChainHand(server.database)


async def test_chains_are_listed_shown_planned_and_switched(wc: CommandLine, chains: httpx.AsyncClient) -> None:
    await made(chains, tag="important", main_flag=1)
    await made(chains, job_desc="twin", switch="OFF")
    await made(chains, job_desc="twin", main_flag=1)
    assert [line.split()[:4] for line in (await wc.ok("chain", "list")).splitlines()] == [
        ["ID", "JOB_DESC", "SWITCH", "TIMESTR"],
        ["1", "orders", "ON", "10"],
        ["2", "twin", "OFF", "10"],
        ["3", "twin", "ON", "10"],
    ]
    assert [chain["id"] for chain in json.loads(await wc.ok("chain", "list", "--off", "--json"))] == [2]
    assert [chain["id"] for chain in json.loads(await wc.ok("chain", "list", "--tag", "important", "--json"))] == [1]
    shown = await wc.ok("chain", "show", "orders")
    assert "orders are there  arrived/orders.sh" in shown
    assert "load EU   orders/load.py;eu" in shown
    assert json.loads(await wc.ok("chain", "show", "chain-1", "--json"))["id"] == 1
    planned = (await wc.ok("chain", "plan", "orders")).splitlines()
    assert planned[0] == "orders"
    assert [line.split()[0:4] for line in planned[2:4]] == [
        ["gates", "-", "gate-1", "orders"],
        ["level", "1", "gates", "step-2"],
    ]
    assert planned[-2] == "runs on: main"
    assert len(json.loads(await wc.ok("chain", "plan", "1", "--json"))["next_fires"]) == 5
    off = await wc.ok("chain", "off", "orders", "3")
    assert off == "chain 1 (orders) is OFF\nchain 3 (twin) is OFF\n"
    assert (await wc.ok("chain", "on", "orders")).startswith("chain 1 (orders) is ON, next at 20")
    assert "it runs only by hand" in await wc.ok("chain", "on", "2")
    one_is_wrong = await wc.here("chain", "off", "1", "nobody")
    assert (one_is_wrong.code, one_is_wrong.out) == (2, "")
    assert (await chains.get("/chains/1")).json()["switch"] == "ON"


async def test_a_run_leaves_a_history_evidence_and_a_message(
    wc: CommandLine, chains: httpx.AsyncClient, hand: ChainHand
) -> None:
    await made(chains, tag="important")
    assert await wc.ok("chain", "run", "orders") == "1\n"
    twice = await wc.here("chain", "run", "1", "--json")
    assert (twice.code, "still lives" in twice.err) == (2, True)
    refused = await wc.here("chain", "rm", "1", "--yes")
    assert (refused.code, "has a live run: stop it or wait" in refused.err) == (2, True)
    await hand.probe(Verdict.ERROR, exit_code=3, output="no such\nhost \x1b[2J\n", message="exit code 3")
    await hand.probe(Verdict.PASSED, output="0\n")
    for attempt in (await hand.begin()).values():
        await hand.end(attempt)
    ((_, last),) = (await hand.begin()).items()
    await hand.end(last, RunState.FAILED, exit_code=7, message="exit code 7", output="no disk\n")
    history = (await wc.ok("chain", "history", "orders")).splitlines()
    assert history[1].split()[:3] == ["1", "Failed", "-"]
    assert json.loads(await wc.ok("chain", "history", "1", "--json", "-n", "1"))[0]["status"] == "Failed"
    probes = (await wc.ok("chain", "probes", "1")).splitlines()
    assert "error    3     no such…  exit code 3" in probes[1]
    assert "passed   0     0" in probes[2]
    assert "\n  host \\x1b[2J\n" in await wc.ok("chain", "probes", "1", "--output")
    assert [probe["number"] for probe in json.loads(await wc.ok("chain", "probes", "1", "--json"))] == [1, 2]
    watched = await wc.here("chain", "watch", "1")
    assert (watched.code, "  Failed      orders/sum.py" in watched.out) == (1, True)
    assert f"waterclock run logs {last.wire_id}" in watched.out
    (message,) = json.loads(await wc.ok("chain", "messages", "--unread", "--chain", "orders", "--json"))
    assert (message["kind"], message["run_id"]) == ("chain_failed", 1)
    assert "chain_failed" in await wc.ok("chain", "messages", "--tag", "important")
    assert "no disk" in await wc.ok("chain", "messages", "--full")
    assert json.loads(await wc.ok("chain", "messages", "--tag", "free", "--json")) == []
    assert await wc.ok("chain", "messages", "--read", str(message["id"])) == "1 marked as read\n"
    assert await wc.ok("chain", "messages", "--read-all") == "0 marked as read\n"
    assert json.loads(await wc.ok("chain", "messages", "--unread", "--json")) == []
    asked = await wc.here("chain", "rm", "1")
    assert (asked.code, asked.err) == (2, "waterclock: nobody can be asked here: give --yes\n")
    assert await wc.ok("chain", "rm", "orders", "--yes") == "deleted chain 1 (orders)\n"
    assert (await wc.here("chain", "watch", "1")).code == 1  # its runs stay


async def test_applying_is_idempotent_and_an_export_differs_in_nothing(
    wc: CommandLine, chains: httpx.AsyncClient
) -> None:
    files = ("-f", str(EXAMPLES / "orders.yaml"), "-f", str(EXAMPLES / "reports.yaml"))
    dry = await wc.here("chain", "apply", *files, "--dry-run")
    assert dry.out == "would create  -  orders\nwould create  -  daily report\nwould create  -  half-hourly count\n"
    assert (await chains.get("/chains")).json()["items"] == []
    fresh = await wc.here("chain", "diff", *files)
    assert (fresh.code, "+job_desc: daily report" in fresh.out) == (1, True)
    applied = await wc.here("chain", "apply", *files)
    assert applied.out == "created  1  orders\ncreated  2  daily report\ncreated  3  half-hourly count\n"
    assert applied.err.endswith("waterclock: 3 created\n")
    before = (await chains.get("/chains")).json()
    again = json.loads(await wc.ok("chain", "apply", *files, "--json"))
    assert [(result["id"], result["done"]) for result in again] == [(n, "unchanged") for n in (1, 2, 3)]
    assert (await chains.get("/chains")).json() == before
    same = await wc.here("chain", "diff", *files)
    assert (same.code, same.out) == (0, "")

    await wc.ok("chain", "off", "orders")
    await made(chains, job_desc="daily report", switch="OFF", timezone="Asia/Seoul", tag="x", BKP_flag=1)
    await chains.post("/chains", json={**body(), "job_desc": None})
    await chains.post("/chains/import", json={"chain": {**body(), "timestr": "whenever", "id": 77}, "source": "old#77"})
    await wc.ok("chain", "export", "-o", "all.yaml")
    for command in ("apply", "diff"):
        said = await wc.here("chain", command, "-f", "all.yaml")
        assert said.code == 0, said
        assert "updated" not in said.out + said.err
    assert sorted(path.name for path in wc.folder.iterdir()) == ["all.yaml"]
    assert (await wc.ok("chain", "export", "1", "half-hourly count")).count("job_desc: half-hourly count") == 1
    piped = await wc.here("chain", "apply", "-f", "-", "--dry-run", given=await wc.ok("chain", "export", "2"))
    assert piped.out == "unchanged  2  daily report\n"


async def test_what_differs_is_shown_and_then_changed(wc: CommandLine, chains: httpx.AsyncClient) -> None:
    old = await made(chains, tag="x")
    await wc.ok("chain", "export", "1", "-o", "orders.yaml")
    file = wc.folder / "orders.yaml"
    file.write_text(file.read_text().replace("dep_ot: 90", "dep_ot: 45").replace("ottime: 0.5", "ottime: 2"))
    differs = await wc.here("chain", "diff", "-f", "orders.yaml")
    assert differs.code == 1
    assert {"-dep_ot: 90", "+dep_ot: 45", "-  ottime: 0.5", "+  ottime: 2"} <= set(differs.out.splitlines())
    dry = await wc.ok("chain", "apply", "-f", "orders.yaml", "--dry-run")
    assert dry == "would update  1  orders: dep_ot, jobs[1].ottime\n"
    assert await wc.ok("chain", "apply", "-f", "orders.yaml") == "updated  1  orders\n"
    new = (await chains.get("/chains/1")).json()
    assert (new["dep_ot"], new["jobs"][1]["ottime"], new["tag"]) == (45, 2, "x")
    assert [step["id"] for step in new["jobs"]] == [step["id"] for step in old["jobs"]]


async def test_nothing_is_changed_where_one_of_many_is_wrong(wc: CommandLine, chains: httpx.AsyncClient) -> None:
    (wc.folder / "good.yaml").write_text(f"job_desc: good\ntimestr: 0 2 * * *\n{JOBS}\n")
    (wc.folder / "bad.yaml").write_text(f"job_desc: bad\ntimestr: 0 25 * * *\n{JOBS}\n---\nfoo: 1\njobs: []\n")
    (wc.folder / "rules.yaml").write_text(
        f"job_desc: bad\ntimestr: 0 25 * * *\n{JOBS}\n---\n"
        f"job_desc: worse\ntimestr: '@daily'\ntimezone: Mars/Olympus\n{JOBS}\n---\n"
        "job_desc: worst\ntimestr: '@daily'\njobs:\n- {command: a.py, step_lvl: -1, ottime: 1}\n"
    )
    for name in ("bad.yaml", "rules.yaml"):
        said = await wc.here("chain", "apply", "-f", "good.yaml", "-f", name)
        assert (said.code, said.out, said.err.count("\n")) == (2, "", 4), said
        assert said.err.splitlines()[-1] == "waterclock: 3 faults, nothing was changed"
    said = await wc.here("chain", "apply", "-f", "good.yaml", "-f", "rules.yaml")
    assert said.err.startswith("waterclock: rules.yaml, line 2, column 10: timestr: cannot read schedule '0 25 * * *'")
    assert "rules.yaml, line 7, column 11: timezone: " in said.err
    assert "rules.yaml, line 13, column 29: jobs[0].step_lvl: must be 0 to 999999" in said.err
    assert (await chains.get("/chains")).json()["items"] == []
    planned = await wc.here("chain", "plan", "-f", "rules.yaml")
    assert (planned.code, "rules.yaml, line 2, column 10: timestr" in planned.err) == (2, True)
    assert (await wc.ok("chain", "plan", "-f", "good.yaml")).startswith("good\nSTAGE ")


async def test_what_the_server_alone_knows_is_found_before_the_first_change(
    wc: CommandLine, chains: httpx.AsyncClient
) -> None:
    (wc.folder / "good.yaml").write_text(f"job_desc: good\ntimestr: 0 2 * * *\n{JOBS}\n")
    (wc.folder / "bad.yaml").write_text(
        "job_desc: bad\ntimestr: 0 2 * * *\njobs:\n- {command: 'a.py;{{secret: x}}', step_lvl: 1, ottime: 1}\n"
    )
    said = await wc.here("chain", "apply", "-f", "good.yaml", "-f", "bad.yaml")
    assert (said.code, said.out) == (2, ""), said
    assert said.err.startswith("waterclock: bad.yaml, line 1, column 1: ")
    assert (await chains.get("/chains")).json()["items"] == []


async def test_a_chain_that_is_refused_is_told_and_holds_up_nobody(wc: CommandLine, server: Served) -> None:
    (wc.folder / "one.yaml").write_text(f"job_desc: one\ntimestr: 0 2 * * *\n{JOBS}\n")
    viewer = await server.token_of("vera", Role.VIEWER)
    said = await wc.here("chain", "apply", "-f", "one.yaml", WATERCLOCK_TOKEN=viewer)
    assert (said.code, said.out.startswith("failed  -  one: ")) == (1, True), said
    assert said.err.endswith("waterclock: 1 failed\n")
    gone = await wc.here("chain", "diff", "-f", "one.yaml", "--server", "http://127.0.0.1:9")
    assert (gone.code, "no server at" in gone.err) == (2, True)


WRONG = (
    (["chain", "show", "nobody"], "no chain is called 'nobody': see waterclock chain list"),
    (["chain", "show", "99"], "chain 99 not found"),
    (["chain", "run", "twin"], "2 chains are called 'twin': give the id, of 1, 2"),
    (["chain", "watch", "99"], "chain run 99 not found"),
    (["chain", "watch", "x"], "'x' is not a valid integer"),
    (["chain", "stop"], "name a run, or a chain with --chain"),
    (["chain", "stop", "1", "--chain", "twin"], "name a run, or a chain with --chain"),
    (["chain", "plan"], "name a chain, or a file with -f"),
    (["chain", "plan", "1", "-f", "x.yaml"], "name a chain, or a file with -f"),
    (["chain", "apply"], "Missing option '-f'"),
    (["chain", "apply", "-f", "none.yaml"], "none.yaml: No such file or directory"),
    (["chain", "diff", "-f", "none.yaml"], "none.yaml: No such file or directory"),
    (["chain", "apply", "-f", "latin.yaml"], "latin.yaml is not UTF-8"),
    (["chain", "diff", "-f", "x.yaml"], "x.yaml, line 1, column 1: foo: unknown field; known here: id, job_desc"),
    (["chain", "export", "99"], "chain 99 not found"),
    (["chain", "messages", "5"], "message ids go with --read"),
    (["chain", "messages", "--read"], "name the messages: --read ID..., or --read-all"),
    (["chain", "messages", "--kind", "gossip"], "kind: must be one of"),
)


async def test_what_went_wrong_is_one_line_on_stderr(wc: CommandLine, chains: httpx.AsyncClient) -> None:
    for _ in range(2):
        await made(chains, job_desc="twin")
    (wc.folder / "x.yaml").write_text(f"foo: 1\njob_desc: a\ntimestr: 0 2 * * *\n{JOBS}\n")
    (wc.folder / "latin.yaml").write_bytes(b"job_desc: caf\xe9\n")
    for args, words in WRONG:
        said = await wc.here(*args)
        assert (said.code, said.out, said.err.count("\n")) == (2, "", 1), (args, said)
        assert words in said.err
    assert (await chains.get("/chains")).json()["items"][0]["last_run"] is None
