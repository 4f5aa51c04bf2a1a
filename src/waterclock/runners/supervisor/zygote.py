"""The supervisor's hold on its zygote: started, asked for forks, and started again when it dies."""

import contextlib
import logging
import os
import resource
import socket
import subprocess
import sys
from pathlib import Path
from typing import Final

from waterclock.runners.cgroup import Cgroup

_LOG = logging.getLogger(__name__)
_SOURCE_ROOT: Final = Path(__file__).parents[3]
_TOKEN_SPACE: Final = "x" * 512  # becomes the token in /proc/<pid>/environ of the programs it forks
_BOOT: Final = (
    "import sys; sys.path[0:1] = [sys.argv[4]]; from waterclock.runners.zygote import main; "
    "sys.path.pop(0); main(int(sys.argv[1]), sys.argv[2], sys.argv[3] or None)"
)


class Zygote:
    """A child process; a new one whenever the old one has gone."""

    def __init__(self, ends_dir: Path, cgroup_root: Cgroup | None, open_files: tuple[int, int]) -> None:
        self._ends_dir = ends_dir
        self._cgroup_root = cgroup_root
        self._open_files = open_files  # the limit that programs inherit
        self._process: subprocess.Popen[bytes] | None = None
        self._line: socket.socket | None = None

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process else None

    def start(self) -> None:
        ours, theirs = socket.socketpair()
        group = str(self._cgroup_root.path) if self._cgroup_root else ""
        with theirs:
            self._process = subprocess.Popen(
                [interpreter(), "-c", _BOOT, str(theirs.fileno()), str(self._ends_dir), group, str(_SOURCE_ROOT)],
                pass_fds=(theirs.fileno(),),
                env=_environment(),
                cwd="/",
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                start_new_session=True,
            )
        resource.prlimit(self._process.pid, resource.RLIMIT_NOFILE, self._open_files)
        ours.setblocking(False)
        self._line = ours

    def fork(self, control: int) -> None:
        """Ask for a keeper that holds `control`; a zygote that has died is replaced first."""
        if self._line is None or not self._ask(control):
            self.replace()
            self._ask(control)

    def replace(self) -> None:
        _LOG.warning("the zygote does not answer: starting another")
        self.close()
        self.start()

    def close(self) -> None:
        if self._line is not None:
            self._line.close()
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()
        self._line = self._process = None

    def _ask(self, control: int) -> bool:
        assert self._line is not None
        try:
            return bool(socket.send_fds(self._line, [b"k"], [control]))
        except OSError:
            return False


def interpreter() -> str:
    """The interpreter itself, never a pyenv shim: a shim costs more than the whole run."""
    executable = sys.executable
    if "/shims/" in executable:
        executable = getattr(sys, "_base_executable", executable)
    return os.path.realpath(executable) if "/shims/" in executable else executable


def _environment() -> dict[str, str]:
    """LD_BIND_NOW: what is not looked up before a fork is looked up in every fork."""
    return {"PATH": os.defpath, "LANG": "C.UTF-8", "LD_BIND_NOW": "1", "WATERCLOCK_SPACE": _TOKEN_SPACE}
