"""The trivial script of W6, and how it is run by those who start an interpreter for each.

Only the standard library: it is imported in the venv of every peer.
"""

import contextlib
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

TEXT = "print('hello')\n"
OUTPUT = "hello\n"
AT_ONCE = 4

Ended = Sequence[object]  # exit code and output


@contextlib.contextmanager
def script() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="bench-script-") as folder:
        path = Path(folder) / "trivial.py"
        path.write_text(TEXT)
        yield path


def run(path: str) -> list[object]:
    done = subprocess.run([sys.executable, path], capture_output=True, text=True, check=False)
    return [done.returncode, done.stdout]


def check(ended: Sequence[Ended], count: int) -> None:
    """All of them, with the output and the exit code that they have."""
    bad = [each for each in ended if list(each) != [0, OUTPUT]]
    if bad or len(ended) != count:
        raise SystemExit(f"{len(ended)} of {count} scripts ended, {len(bad)} of them wrongly: {bad[:1]}")
