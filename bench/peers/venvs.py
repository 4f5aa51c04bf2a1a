"""A venv for each peer, .cache/peers/NAME from bench/peers/NAME.txt: what it needs is no business of ours."""

import fcntl
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

from bench.contest.contestant import BenchProblem
from bench.harness import ROOT

PATIENCE_SECONDS = 600


def interpreter(name: str) -> Path:
    """Of the peer's venv, which is made where there is none from this list; BenchProblem where it cannot be."""
    wanted, venv = ROOT / "bench/peers" / f"{name}.txt", ROOT / ".cache/peers" / name
    venv.parent.mkdir(parents=True, exist_ok=True)
    # The folder is part of the stamp: a copied venv has the old folder's paths in it and must not pass for ours.
    stamp = venv / f".stamp-{sha256(f'{venv}{wanted.read_text()}'.encode()).hexdigest()[:16]}"
    with Path(f"{venv}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not stamp.exists():
            print(f"bench: installing {' '.join(wanted.read_text().split())} ...", file=sys.stderr, flush=True)
            _run(name, sys.executable, "-m", "venv", "--clear", str(venv))
            _run(name, str(venv / "bin/python"), "-m", "pip", "install", "--quiet", "-r", str(wanted))
            stamp.touch()
    return venv / "bin/python"


def _run(name: str, *command: str) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        raise BenchProblem(f"{name} was not installed within {PATIENCE_SECONDS} s") from None
    if done.returncode:
        raise BenchProblem(f"{name} cannot be installed: {' '.join(done.stderr.split())[-300:]}")
