"""The last moments before a program: a fresh fork becomes it, or says in words why it cannot.

Everything here runs between fork and the program itself; nothing is imported, and little is touched: the first touch
of a page in a fork copies it. So names are imported one by one: to look one up in a module touches more pages. The
numbers of its pipes are fixed, so that all others can be closed; the zygote keeps these free: none is in the way.
"""

import _random
import errno
import os
import random
import signal
import sys
from os import _exit, chdir, close, closerange, dup2, getppid, setsid, umask, write
from typing import Final, NamedTuple, NoReturn

from waterclock.domain.errors import CannotRun
from waterclock.runners import limits, warm
from waterclock.runners.base import Limits, Program
from waterclock.runners.calling import Calling, encoded, wait_for
from waterclock.runners.linux import EnvironmentSlot, die_with_parent, name_process, unblock_signals

STATUS_FD: Final = 3
_ORDERS_FD: Final = 4
RESERVED_FDS: Final = (STATUS_FD, _ORDERS_FD)
# Zygote and keepers obey their supervisor alone: a TERM to a whole service must not take them before their programs.
# Blocked, not ignored: a fork gets rid of that in one step.
KEEPERS_BLOCK: Final = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2)
_NOT_STARTED: Final = 127
_UMASK: Final = 0o022
_seed: Final = _random.Random.seed
_shared_random: Final = random._inst


class Birth(NamedTuple):
    """What the fork was given: its output, the pipe to complain on, the pipe to wait on, and who must be its parent."""

    output: int
    status: int
    orders: int
    keeper: int
    open_files: int  # the most that can be open


def rehearse(slot: EnvironmentSlot) -> None:
    """Once, before any fork, as `warm.rehearse`: the order is read and the token written as in a fork, many times."""
    program = Program(attempt_id=0, fence=0, argv=(__file__,), warm=True, env={}, cwd="/", log_path="")
    for _ in range(warm.REHEARSALS):
        orders, orders_write = os.pipe2(os.O_CLOEXEC)
        write(orders_write, encoded(program, slot))
        close(orders_write)
        called = wait_for(orders)
        close(orders)
        assert called is not None
        slot.write(called.token)


def become(birth: Birth, slot: EnvironmentSlot) -> NoReturn:
    """Wait for the order, and turn this process into the program. It never goes on as a second keeper."""
    try:
        _leave_the_keeper(birth)
        _die_with(birth.keeper)
        _seed(_shared_random)  # a bare fork has its parent's
        called = wait_for(_ORDERS_FD)
        if called is not None:
            close(_ORDERS_FD)
            write(STATUS_FD, _begin(called, birth.keeper, slot).encode(errors="replace"))
    except BaseException as error:  # the boundary of this process
        write(STATUS_FD, f"cannot start the program: {error!r}".encode(errors="replace"))
    finally:
        _exit(_NOT_STARTED)


def _begin(called: Calling, keeper: int, slot: EnvironmentSlot) -> str:
    """Why it cannot; where it can, this is the program."""
    try:
        if called.limits:
            limits.apply(Limits(**called.limits))
        if called.user is not None:
            limits.become_user(called.user)
            _die_with(keeper)  # the kernel forgot it with the old user
        _enter(called.cwd)
        if called.is_warm and (script := warm.read(called.argv[0])) is not None:
            slot.write(called.token)
            name_process(called.name)
            close(STATUS_FD)
            warm.run(called, script)
        _execute(called)
    except CannotRun as reason:
        return str(reason)
    except (OSError, ValueError, MemoryError) as error:
        return f"cannot start the program: {error}"


def _leave_the_keeper(birth: Birth) -> None:
    """A session of its own, nothing of the keeper's open, no signal blocked."""
    setsid()
    dup2(birth.output, 1)
    dup2(birth.output, 2)
    dup2(birth.status, STATUS_FD, inheritable=False)
    dup2(birth.orders, _ORDERS_FD, inheritable=False)
    closerange(_ORDERS_FD + 1, birth.open_files)
    unblock_signals()
    umask(_UMASK)


def _die_with(keeper: int) -> None:
    die_with_parent()
    if getppid() != keeper:  # it died before we asked
        _exit(_NOT_STARTED)


def _enter(folder: str) -> None:
    try:
        chdir(folder)
    except OSError as error:
        raise CannotRun(f"cannot enter the working directory {folder!r}: {error.strerror}") from None


def _execute(called: Calling) -> NoReturn:
    # Python ignores these; a program expects them to have their default effect.
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    argv = (sys.executable, *called.argv) if called.is_python else called.argv
    try:
        os.execve(argv[0], argv, called.env)
    except OSError as error:
        raise CannotRun(f"cannot execute {argv[0]!r}: {_why(argv[0], error)}") from None


def _why(path: str, error: OSError) -> str:
    """The reason as a person would put it: the system's own words mislead for scripts."""
    match error.errno:
        case errno.ENOENT if os.path.lexists(path):
            return f"its interpreter {_interpreter(path)!r} does not exist"
        case errno.ENOENT:
            return "there is no such file"
        case errno.EACCES if os.path.isdir(path):
            return "it is a directory"
        case errno.EACCES:
            return "it is not executable by this user"
        case errno.ENOEXEC:
            return "it is neither a program of this machine nor a script with a #! line"
        case errno.E2BIG:
            return "its arguments and environment are too large"
        case _:
            return str(error.strerror)


def _interpreter(path: str) -> str:
    try:
        with open(path, "rb") as source:
            line = source.readline(256)
    except OSError:
        return "?"
    return os.fsdecode(line[2:].split()[0]) if line.startswith(b"#!") and line[2:].split() else "?"
