"""The last moments before a program: a fresh fork becomes it, or says in words why it cannot.

Everything here runs between fork and the program itself; nothing is imported. The numbers of its pipes are fixed, so
that all others can be closed.
"""

import errno
import fcntl
import gc
import os
import signal
import sys
from dataclasses import dataclass
from typing import Final, NoReturn

from waterclock.domain.errors import CannotRun
from waterclock.runners import codec, limits, linux, warm, wire
from waterclock.runners.base import Program

STATUS_FD: Final = 3
_ORDERS_FD: Final = 4
# Zygote and keepers obey their supervisor alone: a TERM to a whole service must not take them before their programs.
KEEPERS_IGNORE: Final = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2)
_NOT_STARTED: Final = 127
_UMASK: Final = 0o022


@dataclass(frozen=True, slots=True, kw_only=True)
class Birth:
    """What the fork was given: its output, the pipe to complain on, the pipe to wait on, and who must be its parent."""

    output: int
    status: int
    orders: int
    keeper: int


def become(birth: Birth) -> NoReturn:
    """Wait for the order, and turn this process into the program."""
    gc.freeze()  # what the keeper made is not the program's to collect: a look at it would copy its pages
    linux.name_process("wc-spare")
    _leave_the_keeper(birth)
    _die_with(birth.keeper)
    slot = linux.EnvironmentSlot()
    warm.rehearse()
    program = _wait_for_order()
    try:
        limits.apply(program.limits)
        limits.become_user(program.user)
        if program.user is not None:  # the kernel forgets it with the old user
            _die_with(birth.keeper)
        _enter(program.cwd)
        if program.warm and (script := warm.load(program)) is not None:
            slot.write(token(program))
            linux.name_process(os.path.basename(program.argv[0]))
            os.close(STATUS_FD)
            warm.run(script)
        _execute(program)
    except CannotRun as reason:
        complaint = str(reason)
    except (OSError, ValueError, MemoryError) as error:
        complaint = f"cannot start the program: {error}"
    os.write(STATUS_FD, complaint.encode(errors="replace"))
    os._exit(_NOT_STARTED)


def token(program: Program) -> list[str]:
    """The entries of its environment that no other attempt has; none when it carries no run id."""
    names = ("WATERCLOCK_RUN_ID", "WATERCLOCK_ATTEMPT", "WATERCLOCK_FENCE")
    if names[0] not in program.env:
        return []
    return [f"{name}={program.env[name]}" for name in names if name in program.env]


def _leave_the_keeper(birth: Birth) -> None:
    """A session of its own, nothing of the keeper's open, signals and mask as a login shell would have them."""
    os.setsid()
    nothing = os.open(os.devnull, os.O_RDONLY)
    given = (nothing, birth.output, birth.output, birth.status, birth.orders)
    aside = [fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, len(given)) for fd in given]  # else one may overwrite the next
    for target, source in enumerate(aside):
        os.dup2(source, target, inheritable=target < STATUS_FD)
    os.closerange(_ORDERS_FD + 1, os.sysconf("SC_OPEN_MAX"))
    signal.set_wakeup_fd(-1)
    for number in (signal.SIGCHLD, *KEEPERS_IGNORE):
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    os.umask(_UMASK)


def _wait_for_order() -> Program:
    """It leaves in silence when its keeper goes without giving one."""
    line = wire.Line(_ORDERS_FD)
    while (message := line.next()) is None:
        if not line.read():
            os._exit(0)
    os.close(_ORDERS_FD)
    return codec.order_from_plain(message).program


def _die_with(keeper: int) -> None:
    linux.die_with_parent()
    if os.getppid() != keeper:  # it died before we asked
        os._exit(_NOT_STARTED)


def _enter(folder: str) -> None:
    try:
        os.chdir(folder)
    except OSError as error:
        raise CannotRun(f"cannot enter the working directory {folder!r}: {error.strerror}") from None


def _execute(program: Program) -> NoReturn:
    # Python ignores these; a program expects them to have their default effect.
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    argv = (sys.executable, *program.argv) if program.warm else program.argv
    try:
        os.execve(argv[0], argv, dict(program.env))
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
