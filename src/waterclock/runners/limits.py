"""What a program is given of the host: resource limits, and the system user that it runs as."""

import os
import pwd
import resource

from waterclock.domain.errors import CannotRun
from waterclock.runners.base import Limits


def apply(limits: Limits) -> None:
    """To this process and all that it starts; how many those are is for their keeper to count."""
    _limit(resource.RLIMIT_AS, limits.memory_bytes)
    _limit(resource.RLIMIT_NOFILE, limits.open_files)
    # One second between SIGXCPU, which says why, and SIGKILL, which cannot be caught.
    _limit(resource.RLIMIT_CPU, limits.cpu_seconds, slack=1)


def _limit(kind: int, value: int | None, slack: int = 0) -> None:
    if value is None:
        return
    _, most = resource.getrlimit(kind)
    hard = value + slack if most == resource.RLIM_INFINITY else min(value + slack, most)
    resource.setrlimit(kind, (min(value, hard), hard))


def become_user(name: str | None) -> None:
    """For good: groups, group, user. A name that is already ours changes nothing."""
    if name is None:
        return
    entry = _entry(name)
    if entry.pw_uid == os.geteuid() and os.geteuid() != 0:
        return
    if os.geteuid() != 0:
        raise CannotRun(f"cannot run as user {name!r}: the worker is not root")
    os.initgroups(name, entry.pw_gid)
    os.setgid(entry.pw_gid)
    os.setuid(entry.pw_uid)


def _entry(name: str) -> pwd.struct_passwd:
    try:
        return pwd.getpwnam(name)
    except KeyError:
        raise CannotRun(f"cannot run as user {name!r}: this host has no such user") from None
