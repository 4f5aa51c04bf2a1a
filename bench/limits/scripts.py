"""A bare fork server, 4 at once: a warm interpreter forks, and the child runs the script, its output in a file.

Exit codes are kept in memory: no store, no supervisor, nobody who would outlive it.
"""

import gc
import os
import tempfile
import time
from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path

from bench.harness import PLACE
from bench.peers import measures, trivial


def scripts(given: Namespace) -> Mapping[str, float]:
    gc.collect()
    gc.freeze()  # a collection in a fork must not copy the shared pages
    with trivial.script() as script, tempfile.TemporaryDirectory(dir=PLACE) as outputs:
        began = time.perf_counter()
        codes = _forked(script, Path(outputs), given.count)
        seconds = time.perf_counter() - began
        ended = [[code, Path(outputs, str(number)).read_text()] for number, code in codes.items()]
    trivial.check(ended, given.count)
    return {"runs_per_second": given.count / seconds}


def _forked(script: Path, outputs: Path, count: int) -> dict[int, int]:
    """The exit code of each."""
    codes: dict[int, int] = {}
    under_way: dict[int, int] = {}
    for number in range(count):
        pid = os.fork()
        if not pid:
            _become(script, outputs / str(number))
        under_way[pid] = number
        if len(under_way) == trivial.AT_ONCE:
            _await_one(under_way, codes)
    while under_way:
        _await_one(under_way, codes)
    return codes


def _await_one(under_way: dict[int, int], codes: dict[int, int]) -> None:
    pid, status = os.wait()
    codes[under_way.pop(pid)] = os.waitstatus_to_exitcode(status)


def _become(script: Path, output: Path) -> None:
    """Never returns."""
    code = 1
    try:
        os.setsid()
        file = os.open(output, os.O_WRONLY | os.O_CREAT)
        os.dup2(file, 1)
        os.dup2(file, 2)
        exec(compile(script.read_bytes(), str(script), "exec"), {"__name__": "__main__"})  # noqa: S102 -- it is what is measured
        print(end="", flush=True)
        code = 0
    finally:
        os._exit(code)


if __name__ == "__main__":
    measures.main({"scripts": scripts})
