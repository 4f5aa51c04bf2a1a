"""A gigabyte of output, of one line, of no text: memory stays, the file ends at its cap, nobody else waits."""

import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, Final

import boto3
import httpx
import psutil
from botocore.config import Config

from tests.acceptance.server import until
from tests.chaos.cluster import Cluster
from tests.chaos.scenario import Result, World, scenario
from tests.chaos.tools.one_host import one_host
from tests.chaos.tools.usage import mebibytes, name_of, peak_bytes, resident_bytes
from waterclock import clock
from waterclock.chaos.checker import Answer
from waterclock.domain.moment import SECOND
from waterclock.domain.run import ENDED

GIBIBYTE: Final = 2**30
CAP_BYTES: Final = 8 * 2**20
MOST_GROWTH_BYTES: Final = 100 * 2**20
LONGEST_SILENCE_SECONDS: Final = 2.0  # between two heartbeats, which are due every 0.7 s
NEIGHBOURS: Final = 3
MOST_LATE_US: Final = 2 * SECOND
LINES: Final = "b'x' * 1023 + b'\\n'"
ONE_LINE: Final = "b'y' * 1024"
NO_TEXT: Final = "b'\\xff\\xfe\\xc3(' * 256"
FLOOD: Final = """
block = memoryview(({kilobyte}) * 1024)
for _ in range({count}):
    left = block
    while left:
        left = left[os.write(1, left):]
"""


@scenario(17, "1 GB of log, of one line, of no text", stores=("postgres", "sqlite"))
def run(world: World) -> Result:
    with one_host(world, log_cap_bytes=CAP_BYTES) as made, ExitStack() as threads:
        _warm_up(made)
        for number in range(NEIGHBOURS):
            made.every(f"neighbour-{number}", 1)
        floods = {"lines": LINES, "one line": ONE_LINE, "no text": NO_TEXT}
        for work, kilobyte in floods.items():
            made.job(work, FLOOD.format(kilobyte=kilobyte, count=GIBIBYTE // 2**20))
        before = {pid: resident_bytes(pid) for pid in _ours(made)}
        silence = threads.enter_context(_Silence(made))
        began = time.monotonic()
        runs = {work: made.glue().start_job_run(JobName=work)["JobRunId"] for work in floods}
        read = _while_they_run(made, runs.values())
        took = time.monotonic() - began
        grown = _growth(made, before)
        threads.close()
        made.stop_triggers()
        made.quiet()
        assert max(grown.values()) < MOST_GROWTH_BYTES, f"memory grew: {grown}"
        assert silence.longest < LONGEST_SILENCE_SECONDS, f"no heartbeat for {silence.longest:.1f} s"
        for work, run_id in runs.items():
            _check_log(world, work, run_id)
            made.calls[work] = Answer.ACKNOWLEDGED
        made.calls["small"] = Answer.ACKNOWLEDGED
        result = made.result(
            written=f"3 × {mebibytes(GIBIBYTE)} in {took:.1f} s",
            read=f"{read} times",
            longest_silence=f"{silence.longest:.2f} s",
            most_growth=", ".join(f"{name} {mebibytes(count)}" for name, count in grown.items()),
        )
        assert max(result.late_us) < MOST_LATE_US, f"a neighbour was {max(result.late_us) / SECOND:.1f} s late"
        return result


def _warm_up(made: Cluster) -> None:
    """One small run, read in every way: what is loaded once is not what a flood takes."""
    made.job("small", "print('small')")
    _while_they_run(made, [made.glue().start_job_run(JobName="small")["JobRunId"]])


def _ours(made: Cluster) -> list[int]:
    """Scheduler, API, worker and supervisor, and what that has below it: zygote and keepers, not the programs."""
    found = [*made.schedulers[0].pids(), *made.apis[0].pids()]
    below = [each.pid for pid in made.workers[0].supervisors() for each in psutil.Process(pid).children(recursive=True)]
    return [*found, *(pid for pid in below if name_of(pid).startswith("wc-"))]


def _growth(made: Cluster, before: dict[int, int]) -> dict[str, int]:
    """By name, the most: of what began meanwhile all of it."""
    found: dict[str, int] = {}
    roles = {each.pid: each.role for each in made.all}
    for pid in _ours(made):
        name = roles.get(pid, name_of(pid))
        found[name] = max(found.get(name, 0), peak_bytes(pid) - before.get(pid, 0))
    return found


def _check_log(world: World, work: str, run_id: str) -> None:
    (path,) = {found.resolve() for found in world.folder.rglob(f"{run_id}.log")}
    size = path.stat().st_size
    assert size <= CAP_BYTES, f"{work}: the log has {size} bytes, more than its cap"
    assert size > CAP_BYTES * 0.9, f"{work}: only {size} bytes were kept"
    assert _tail(path).endswith(b"bytes; what came after was discarded]\n"), f"{work}: no marker"


def _tail(path: Path) -> bytes:
    with path.open("rb") as file:
        file.seek(-200, 2)
        return file.read()


def _while_they_run(made: Cluster, runs: Iterable[str]) -> int:
    """Each log is read by offset, followed, and asked for as CloudWatch would, again and again; how often."""
    ids, done = list(runs), threading.Event()
    with ThreadPoolExecutor(max_workers=len(READERS) * len(ids)) as pool:
        reading = [pool.submit(_again, done, reader, made, run_id) for run_id in ids for reader in READERS]
        try:
            until(lambda: all(_state(made, run_id) in ENDED for run_id in ids), "a flood does not end", 90, pause=0.2)
        finally:
            done.set()
        return sum(each.result(30) for each in reading)


def _again(done: threading.Event, reader: "Reader", made: Cluster, run_id: str) -> int:
    count = 0
    while not done.is_set():
        reader(made, run_id, done)
        count += 1
    return count


def _by_offset(made: Cluster, run_id: str, done: threading.Event) -> None:
    with _client(made) as client:
        offset, ended = 0, False
        while not ended and not done.is_set():
            answer = client.get(f"/runs/{run_id}/log", params={"offset": offset, "limit": 2**20})
            answer.raise_for_status()
            page = answer.json()
            offset, ended = page["next_offset"], page["ended"]


def _followed(made: Cluster, run_id: str, done: threading.Event) -> None:
    with _client(made) as client, client.stream("GET", f"/runs/{run_id}/log/follow") as stream:
        stream.raise_for_status()
        for _ in stream.iter_bytes():
            if done.is_set():
                return


def _as_events(made: Cluster, run_id: str, done: threading.Event) -> None:
    logs = _cloudwatch(made)
    with suppress(logs.exceptions.ResourceNotFoundException):  # it has not begun
        token: dict[str, Any] = {"startFromHead": True}
        while not done.is_set():
            found = logs.get_log_events(logGroupName="/aws-glue/python-jobs/output", logStreamName=run_id, **token)
            if token.get("nextToken") == found["nextForwardToken"]:
                return
            token = {"nextToken": found["nextForwardToken"]}


Reader = Callable[[Cluster, str, threading.Event], None]
READERS: Final[tuple[Reader, ...]] = (_by_offset, _followed, _as_events)


def _client(made: Cluster) -> httpx.Client:
    headers = {"authorization": f"Bearer {made.token}"}
    return httpx.Client(base_url=f"{made.address}/api/v1", headers=headers, timeout=30, trust_env=False)


def _cloudwatch(made: Cluster) -> Any:
    lines = (made.apis[0].folder / "credentials").read_text().splitlines()
    keys = dict(line.split(" = ") for line in lines if " = " in line)
    config = Config(retries={"total_max_attempts": 1}, proxies={})
    session = boto3.Session(**keys, region_name="us-east-1")
    return session.client("logs", endpoint_url=made.address, config=config)


def _state(made: Cluster, run_id: str) -> str:
    with _client(made) as client:
        return str(client.get(f"/runs/{run_id}").raise_for_status().json()["state"])


class _Silence:
    """How long a node's last heartbeat was ever ago, while in a `with`."""

    def __init__(self, made: Cluster) -> None:
        self.longest = 0.0
        self._made = made
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch)

    def __enter__(self) -> "_Silence":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._done.wait(0.2):
            oldest = self._made.ask("SELECT MIN(heartbeat_at) AS at FROM nodes")[0]["at"]
            self.longest = max(self.longest, (clock.wall_us() - oldest) / SECOND)
