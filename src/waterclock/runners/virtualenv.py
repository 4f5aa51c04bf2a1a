"""Virtual environments: what one is called by what is in it, and the commands that make it. Nothing is run here."""

import hashlib
import sys
from collections.abc import Sequence
from pathlib import Path


def digest(wanted: Sequence[str]) -> str:
    """The name of an environment: the interpreter that it is for, and what is installed in it."""
    text = "\n".join((sys.version, *sorted(wanted)))
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def making(folder: Path) -> tuple[str, ...]:
    return (sys.executable, "-m", "venv", str(folder))


def installing(folder: Path, *what: str) -> tuple[str, ...]:
    return (str(folder / "bin" / "python"), "-m", "pip", "install", "--no-input", *what)
