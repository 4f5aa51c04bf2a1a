"""The version before: its source out of git, and processes of the cluster that run it."""

import subprocess
import tarfile
from io import BytesIO
from pathlib import Path
from typing import Final

from tests.acceptance.server import REPO
from tests.chaos.process import Process
from tests.chaos.scenario import Unsupported

BEFORE: Final = "077489f"  # the last commit that knows no step 0009; a commit that adds a step moves this on


def older_source(folder: Path) -> Path:
    """The folder to put first on the path."""
    asked = subprocess.run(["git", "archive", BEFORE, "src"], cwd=REPO, capture_output=True, check=False)
    if asked.returncode != 0:
        raise Unsupported(f"git has no commit {BEFORE} here: {asked.stderr.decode(errors='replace').strip()[:200]}")
    with tarfile.open(fileobj=BytesIO(asked.stdout)) as archive:
        archive.extractall(folder)
    return folder / "src"


def as_older(process: Process, source: Path) -> Process:
    """Before it is started; also what it starts itself is of that version."""
    process.extra["PYTHONPATH"] = str(source)
    return process


def as_present(process: Process) -> Process:
    process.extra.pop("PYTHONPATH", None)
    return process
