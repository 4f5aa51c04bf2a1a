"""16: disks are full, of bytes and then of files: under a worker's logs, under the API's audit, under SQLite itself."""

import time
from collections import Counter
from contextlib import AbstractContextManager, ExitStack
from dataclasses import replace
from typing import Final

import httpx

from tests.acceptance.server import until
from tests.chaos.cluster import Cluster, cluster
from tests.chaos.scenario import Result, World, scenario
from tests.chaos.tools.small_disk import Disk, small_disk
from waterclock.chaos.checker import Answer

MEGABYTES: Final = 24
FULL_SECONDS: Final = 6.0
NOISY: Final = "print('x' * 200_000)"
PRINTING: Final = "import time\nfor _ in range(120):\n    print('x' * 20_000, flush=True)\n    time.sleep(0.1)"
CALLED: Final = "called"
REFUSED: Final = (503, 507)  # what a call may be told that cannot be done now


@scenario(16, "the disk is full under logs and under SQLite", stores=("postgres", "sqlite"))
def run(world: World) -> Result:
    with ExitStack() as stack:
        local = [stack.enter_context(_disk(world, name)) for name in ("worker-0", "api-0")]
        store = stack.enter_context(_disk(world, "store")) if world.store == "sqlite" else None
        if store:
            world = replace(world, url=f"sqlite:///{store.folder}/waterclock.db")
        c = stack.enter_context(cluster(world, schedulers=1, workers=1))
        c.job(CALLED)
        c.every("quiet", 1)
        c.every("noisy", 2, body=NOISY)
        printing = c.call("printing", body=PRINTING)
        until(lambda: any(mark.work == "printing" for mark in c.marks()), "it does not begin")
        c.add("worker").start()  # whose disk has room
        _goes_on(c)
        notes = {f"without {what}": _full(c, local, what, refusing=False) for what in ("bytes", "names")}
        if store:
            notes["under SQLite"] = _full(c, [store], "bytes", refusing=True)
            (found,) = c.ask("PRAGMA integrity_check")
            assert list(found.values()) == ["ok"], found
        c.stop_triggers()
        c.quiet()
        assert c.stored()[printing, 0] == "SUCCEEDED", "a program has failed, for its output found no room"
        dead = [process for process in c.all if not process.alive]
        assert not dead, f"a full disk has killed {dead}:\n{dead[0].errors()[-3000:]}"
        result = c.result()
        return replace(result, notes={**result.notes, **notes})


def _disk(world: World, name: str) -> AbstractContextManager[Disk]:
    return small_disk(world.folder / name, megabytes=MEGABYTES)


def _full(c: Cluster, disks: list[Disk], what: str, *, refusing: bool) -> str:
    """While they are full the API answers in order; afterwards all goes on."""
    for disk in disks:
        disk.fill() if what == "bytes" else disk.use_up_names()
    told = _called(c, f"{what}-{refusing}")
    if not refusing:
        _goes_on(c)  # on the worker that has room
    for disk in disks:
        disk.free()
    since = time.monotonic()
    _goes_on(c)
    allowed = {200, 201, *REFUSED} if refusing else {200, 201}
    assert set(told) <= allowed, f"without {what} the API answered {told}"
    assert not refusing or any(status in REFUSED for status in told), f"nothing was refused: {told}"
    refused = sum(count for status, count in told.items() if status in REFUSED)
    return f"{refused} of {told.total()} calls refused, on again after {time.monotonic() - since:.1f} s"


def _called(c: Cluster, name: str) -> Counter[int]:
    """Reads and calls for runs, one after another: how often it answered what."""
    api, told, deadline = c.api, Counter[int](), time.monotonic() + FULL_SECONDS
    for number in range(1_000_000):
        if time.monotonic() > deadline:
            break
        told[api.get("/jobs").status_code] += 1
        told[_start(c, api, f"{name}-{number}")] += 1
        time.sleep(0.1)
    return told


def _start(c: Cluster, api: httpx.Client, work: str) -> int:
    asked = {"job": CALLED, "namespace": "glue", "arguments": {"--work": work}}
    status = api.post("/runs", json=asked).status_code
    c.calls[work] = Answer.ACKNOWLEDGED if status == 201 else Answer.UNKNOWN
    return status


def _goes_on(c: Cluster) -> None:
    """Both programs of triggers succeed again, from their start to their end."""
    known = _succeeded(c)

    def again() -> bool:
        fresh = _succeeded(c) - known
        return {mark.work for mark in c.marks() if mark.run in fresh} >= {"quiet", "noisy"}

    until(again, "it does not go on", 30, pause=0.2)


def _succeeded(c: Cluster) -> set[str]:
    return {run for (run, _), state in c.stored().items() if state == "SUCCEEDED"}
