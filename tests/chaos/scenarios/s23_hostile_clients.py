"""Bodies and heads without end, JSON without bottom, clients without haste: refused, and others do not wait."""

import json
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from http.client import HTTPConnection
from typing import Any, Final

from tests.acceptance.server import REPO
from tests.chaos.cluster import Cluster, cluster
from tests.chaos.scenario import Result, World, scenario
from tests.chaos.tools.usage import mebibytes, peak_bytes, resident_bytes

EXPECTED: Final = {
    "100 MB body": "413",
    "100 MB body without a length": "413",
    "100,000 deep JSON": "400",
    "10,000 headers": "431",
    "slow head": "408",
    "slow body": "408",
    "slow body of Glue": "408",
    "2,000 requests unread": "200",
}
MOST_P99_SECONDS: Final = 1.0
MOST_GROWTH_BYTES: Final = 200 * 2**20
PAUSE_SECONDS: Final = 0.01
PERCENT: Final = 99


@scenario(23, "hostile clients", stores=("postgres", "mariadb", "sqlite"))
def run(world: World) -> Result:
    with cluster(world, schedulers=1, workers=1) as made:
        made.every("neighbour", 1)
        before = resident_bytes(made.apis[0].pid)
        answers, waits = _under_attack(made)
        growth = peak_bytes(made.apis[0].pid) - before
        made.stop_triggers()
        made.quiet()
        for kind, status in EXPECTED.items():
            found, _ = answers[kind]
            assert set(found) == {status}, f"{kind}: {found}, and {status} is what it should get"
        p99 = {name: sorted(each)[len(each) * PERCENT // 100] for name, each in waits.items()}
        slow = {name: seconds for name, seconds in p99.items() if seconds >= MOST_P99_SECONDS}
        assert not slow, f"others waited: p99 {slow}"
        assert growth < MOST_GROWTH_BYTES, f"the API grew by {mebibytes(growth)}"
        return made.result(
            answers=_told(answers),
            others_p99=", ".join(f"{name} {seconds * 1000:.0f} ms" for name, seconds in p99.items()),
            others_calls=sum(map(len, waits.values())),
            growth_of_the_API=mebibytes(growth),
        )


def _told(answers: dict[str, Any]) -> str:
    """By status: how many, and how long the slowest of them held its connection."""
    counts: Counter[str] = Counter()
    longest: dict[str, float] = {}
    for found, seconds in answers.values():
        for status, count in found.items():
            counts[status] += count
            longest[status] = max(seconds, longest.get(status, 0))
    return ", ".join(f"{counts[status]} × {status} within {longest[status]:.1f} s" for status in sorted(counts))


def _under_attack(made: Cluster) -> tuple[dict[str, Any], dict[str, list[float]]]:
    """What the hostile clients were answered, and how long honest calls took meanwhile."""
    done = threading.Event()
    honest: dict[str, Callable[[], object]] = {
        "healthz": _healthz(made),
        "GET jobs": _listing(made),
        "Glue GetJobs": made.glue(retries=1).get_jobs,
        "POST runs": _starting(made),
    }
    with ThreadPoolExecutor(max_workers=len(honest)) as pool:
        calling = {name: pool.submit(_again, done, call) for name, call in honest.items()}
        try:
            said = subprocess.run(
                [sys.executable, "-m", "tests.chaos.tools.hostile", str(made.apis[0].settings["port"]), made.token],
                cwd=REPO,
                capture_output=True,
                text=True,
                timeout=90,
                check=True,
            )
        finally:
            done.set()
        return json.loads(said.stdout), {name: each.result() for name, each in calling.items()}


def _again(done: threading.Event, call: Callable[[], object]) -> list[float]:
    waits = []
    while not done.wait(PAUSE_SECONDS):
        began = time.monotonic()
        call()
        waits.append(time.monotonic() - began)
    return waits


def _healthz(made: Cluster) -> Callable[[], object]:
    """Over a new connection each time: whoever comes anew must be let in, too."""

    def call() -> None:
        connection = HTTPConnection("127.0.0.1", int(str(made.apis[0].settings["port"])), timeout=20)
        with closing(connection):
            connection.request("GET", "/healthz")
            assert connection.getresponse().status == 200

    return call


def _listing(made: Cluster) -> Callable[[], object]:
    api = made.api
    return lambda: api.get("/jobs").raise_for_status()


def _starting(made: Cluster) -> Callable[[], object]:
    """A change, refused because there is no such job: all of the way to the store and back."""
    api = made.api

    def call() -> None:
        assert api.post("/runs", json={"job": "none"}).status_code == 404

    return call
