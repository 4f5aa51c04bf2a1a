"""A fresh interpreter for each script, by plain `subprocess`: nothing is captured or recorded of it."""

import os
import subprocess
import sys
import tempfile
from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path

from bench.limits.forks import SCRIPT
from bench.peers import measures
from bench.peers.marks import MARKS_FILE, FileMarks


def latency(given: Namespace) -> Mapping[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        script, marked = Path(folder) / "first_line.py", Path(folder) / "marks"
        script.write_text(SCRIPT)
        marks = FileMarks(marked)
        environment = {**os.environ, MARKS_FILE: str(marked)}
        started: list[subprocess.Popen[bytes]] = []

        def submit() -> None:
            started.append(subprocess.Popen([sys.executable, str(script)], env=environment))

        try:
            return measures.one_at_a_time(given.count, submit, marks.nth)
        finally:
            for process in started:
                process.wait()


if __name__ == "__main__":
    measures.main({"latency": latency})
