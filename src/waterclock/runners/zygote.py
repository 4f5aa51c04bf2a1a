"""The warm interpreter: imports once, then forks a keeper for every descriptor that it is handed.

Single-threaded and without a loop, so that its forks are whole. It holds nothing of the supervisor's: no database, no
environment, no open file; a program forked from it cannot find what it never had.
"""

import contextlib
import fcntl
import gc
import importlib
import os
import signal
import socket
import sys
from typing import Final

from waterclock.runners import child, linux, warm
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
    """Returns as zygote, when the supervisor has gone; as keeper or program it leaves when their work is done."""
    linux.name_process(b"wc-zygote")
    slot = linux.EnvironmentSlot()
    supervisor_fd = _reserve_descriptors(supervisor_fd)
    _prepare(slot)
    control = _fork_keepers(supervisor_fd)
    if control is None:
        return
    Keeper(control, ends_dir, Cgroup.at(cgroup_root), slot).serve()
    os._exit(0)


def _reserve_descriptors(supervisor_fd: int) -> int:
    """Of the programs-to-be; where the supervisor's line is then."""
    moved = fcntl.fcntl(supervisor_fd, fcntl.F_DUPFD_CLOEXEC, max(child.RESERVED_FDS) + 1)
    for number in child.RESERVED_FDS:
        os.dup2(0, number, inheritable=False)
    return moved


def _prepare(slot: linux.EnvironmentSlot) -> None:
    for name in PRELOADED:
        importlib.import_module(name)
    for number in signal.valid_signals():
        with contextlib.suppress(OSError, ValueError):
            signal.signal(number, signal.SIG_DFL)
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, child.KEEPERS_BLOCK)
    warm.rehearse()
    child.rehearse(slot)
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
            if linux.fork() == 0:
                os.close(supervisor.detach())
                return control
            os.close(control)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], sys.argv[3] or None)
