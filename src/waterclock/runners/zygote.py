"""The warm interpreter: imports once, then forks a keeper for every descriptor that it is handed.

Single-threaded and without a loop, so that its forks are whole. It holds nothing of the supervisor's: no database, no
environment, no open file; a program forked from it cannot find what it never had.
"""

import contextlib
import gc
import importlib
import os
import signal
import socket
import sys
from typing import Final

from waterclock.runners import child, linux
from waterclock.runners.cgroup import Cgroup
from waterclock.runners.keeper import Keeper

# What most scripts import anyway. Not multiprocessing: its authentication key would be shared by all programs.
PRELOADED: Final = (
    "argparse", "collections", "csv", "dataclasses", "datetime", "decimal", "functools", "hashlib", "itertools", "json",
    "logging", "math", "os", "pathlib", "random", "re", "shutil", "string", "subprocess", "tempfile", "time",
    "traceback", "typing", "urllib.parse", "uuid",
    "waterclock.runners.lake.sql_task",  # a small query takes no longer than it would take to read this
)  # fmt: skip


def main(supervisor_fd: int, ends_dir: str, cgroup_root: str | None) -> None:
    """Never returns but by exit: as zygote when the supervisor has gone, as keeper or program when their work is done.

    The three lives follow one another here, and not inside each other, so that a program's stack starts near empty.
    """
    linux.name_process("wc-zygote")
    _prepare()
    control = _fork_keepers(supervisor_fd)
    if control is None:
        return
    keeper = Keeper(control, ends_dir, Cgroup.at(cgroup_root))
    birth = keeper.serve()
    if birth is None:
        os._exit(0)
    del keeper
    child.become(birth)


def _prepare() -> None:
    for name in PRELOADED:
        importlib.import_module(name)
    for number in signal.valid_signals():
        with contextlib.suppress(OSError, ValueError):
            signal.signal(number, signal.SIG_DFL)
    for number in (signal.SIGPIPE, signal.SIGXFSZ, *child.KEEPERS_IGNORE):
        signal.signal(number, signal.SIG_IGN)
    # Also the kernel's word that it may bury keepers itself.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    gc.collect()
    gc.disable()
    gc.freeze()  # a collection in a fork must not touch, and so copy, the shared pages


def _fork_keepers(supervisor_fd: int) -> int | None:
    """One fork per descriptor; returns in each fork with its descriptor, and None once the supervisor has gone."""
    supervisor = socket.socket(fileno=supervisor_fd)
    while True:
        data, descriptors, _, _ = socket.recv_fds(supervisor, 1, 1)
        if not data:
            return None
        for control in descriptors:
            if os.fork() == 0:
                os.close(supervisor.detach())
                return control
            os.close(control)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], sys.argv[3] or None)
