"""The account that servers run under: ourselves, or nobody where we are root (PostgreSQL refuses to serve root)."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

NOBODY: Final = 65534


def as_account(*argv: str | Path) -> list[str]:
    """The command that runs argv under the account."""
    drop = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--") if os.geteuid() == 0 else ()
    return [*drop, *map(str, argv)]


def dying_with_us(*argv: str | Path) -> list[str]:
    """The command that runs argv and is killed when the thread that started it ends."""
    return ["setpriv", "--pdeathsig=KILL", "--", *map(str, argv)]


def new_folder(name: str) -> Path:
    """A fresh folder that the account owns. Everyone may pass through the one above it, which is to be removed."""
    top = Path(tempfile.mkdtemp(prefix=f"waterclock-{name}-"))
    top.chmod(0o711)
    folder = top / "server"
    folder.mkdir(mode=0o700)
    if os.geteuid() == 0:
        os.chown(folder, NOBODY, NOBODY)
    return folder


def reachable(program: Path, root: Path, parts: Sequence[str], folder: Path) -> Path:
    """`program`; where the account cannot reach it (under /root), its like in a copy of the parts beside `folder`."""
    if subprocess.run(as_account("test", "-x", program), check=False).returncode == 0:
        return program
    for part in parts:
        shutil.copytree(root / part, folder.parent / part, symlinks=True)
    return folder.parent / program.relative_to(root)
