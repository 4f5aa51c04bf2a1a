"""What servers and engines of the lake's tests are made of: fetched once under .cache by tools/lake-component."""

import subprocess
from pathlib import Path
from typing import Final

PROJECT: Final = Path(__file__).parents[2]


class ComponentUnavailable(Exception):
    """It can neither be found nor fetched on this machine; with the end of what was said about it."""


def component(name: str) -> Path:
    """Where it lies; minutes may pass until it does."""
    ran = subprocess.run([PROJECT / "tools/lake-component", name], capture_output=True, text=True, check=False)
    if ran.returncode:
        raise ComponentUnavailable(f"{name}: {ran.stderr.strip()[-2000:]}")
    return Path(ran.stdout.strip().splitlines()[-1])
