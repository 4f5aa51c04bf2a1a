"""Which repositories may be cloned: https, ssh, or a folder inside an allowed one. All else is refused in words."""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final
from urllib.parse import unquote

from waterclock.reachable import addresses_of, is_public
from waterclock.runners.lake.task import TaskFailed

ALLOWED: Final = (
    "https://host/path, ssh://host/path, git@host:path, or a folder (file:///path) inside one of lake.roots"
)

# Stricter than git: what two programs could read in two ways is no address.
_NAME: Final = r"[A-Za-z0-9_][A-Za-z0-9._-]*"
_HOST: Final = r"(?P<host>[A-Za-z0-9][A-Za-z0-9._-]*|\[[0-9A-Fa-f:.]+\])"
_PORT: Final = r"(?::(?P<port>[0-9]{1,5}))?"
_LOGIN: Final = r"(?P<user>[^:@/?#\\\s]+)(?::(?P<password>[^@/?#\\\s]*))?"
_HTTPS: Final = re.compile(rf"https://(?:{_LOGIN}@)?{_HOST}{_PORT}(?P<path>/[^?#\\\s]+)")
_SSH: Final = re.compile(rf"ssh://(?:(?P<user>{_NAME})@)?{_HOST}{_PORT}(?P<path>/[^\\\s]+)")
_SCP: Final = re.compile(rf"(?P<user>{_NAME})@{_HOST}:(?P<path>[^-\\\s][^\\\s]*)")
_BEFORE_HOST: Final = re.compile(r"^([a-z+]+://)?[^/]*@")

_WHY_NOT: Final[Mapping[str, str]] = {
    "http": "http:// is not encrypted",
    "git": "git:// is neither encrypted nor proves who answers",
    "ext": "ext:: runs commands",
}


class Scheme(StrEnum):
    HTTPS = "https"
    SSH = "ssh"
    FILE = "file"


PORTS: Final[Mapping[Scheme, int]] = {Scheme.HTTPS: 443, Scheme.SSH: 22}


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """A repository that may be asked for; `url` holds no password, and is what git is given and logs may show."""

    scheme: Scheme
    url: str
    host: str = ""
    port: int = 0
    user: str = ""
    password: str = ""


def address_of(url: str, roots: Sequence[str]) -> Address:
    if not url.strip():
        raise TaskFailed(f"the job has no git_url: it must be {ALLOWED}")
    if not url.isprintable():
        raise TaskFailed("git_url holds a control character")
    if url.startswith("-"):
        raise TaskFailed(f"git_url {_shown(url)!r} begins with '-' and could be taken for an option: use {ALLOWED}")
    if url.startswith(("/", "file://")):
        return _folder(url, roots)
    if found := _HTTPS.fullmatch(url):
        return _remote(Scheme.HTTPS, found, _without_login(url))
    if found := _SSH.fullmatch(url) or _SCP.fullmatch(url):
        return _remote(Scheme.SSH, found, url)
    scheme = re.split(r"::?", url, maxsplit=1)[0].lower()
    why = f": {_WHY_NOT[scheme]}" if scheme in _WHY_NOT else ""
    raise TaskFailed(f"git_url {_shown(url)!r} is no address that may be cloned{why}; use {ALLOWED}")


def reached(address: Address, *, allows_private: bool) -> tuple[str, ...]:
    """Where its host is, looked up once: git is held to these, whatever the name stands for a moment later."""
    if address.scheme is Scheme.FILE:
        return ()
    found = addresses_of(address.host.strip("[]"))
    if not found:
        raise TaskFailed(f"git_url: the host {address.host!r} is not known to this worker")
    private = next((each for each in found if not is_public(each)), None)
    if private is not None and not allows_private:
        where = f"{address.host} is at {private}, which" if private != address.host.strip("[]") else private
        raise TaskFailed(
            f"git_url: {where} is not a public address; an admin may allow it with the setting lake.private"
        )
    return tuple(found)


def _remote(scheme: Scheme, found: re.Match[str], url: str) -> Address:
    parts = found.groupdict(default="")
    port = int(parts.get("port") or PORTS[scheme])
    if not 0 < port < 65536:
        raise TaskFailed(f"git_url {_shown(url)!r}: there is no port {port}")
    return Address(
        scheme=scheme,
        url=url,
        host=parts["host"],
        port=port,
        user=unquote(parts["user"]),
        password=unquote(parts.get("password", "")),
    )


def _folder(url: str, roots: Sequence[str]) -> Address:
    """Where it really is, links followed; whether it is there at all is told only of what is allowed."""
    path = url
    if url.startswith("file://"):
        host, slash, path = url.removeprefix("file://").partition("/")
        if host not in ("", "localhost") or not slash:
            raise TaskFailed(f"git_url {_shown(url)!r}: file:// names a folder of this worker, as file:///path does")
        path = "/" + unquote(path)
    real = os.path.realpath(path) if path.isprintable() else ""
    if not any(root and Path(real).is_relative_to(os.path.realpath(root)) for root in roots):
        known = ", ".join(root for root in roots if root) or "none is set"
        raise TaskFailed(f"git_url {url!r} is not inside a folder that may be cloned from (lake.roots: {known})")
    if not os.path.exists(real):
        raise TaskFailed(f"git_url {url!r}: there is no such folder on this worker")
    return Address(scheme=Scheme.FILE, url=real)


def _without_login(url: str) -> str:
    return _BEFORE_HOST.sub(r"\1", url)


def _shown(url: str) -> str:
    """Whatever stands where a password may stand is not repeated."""
    return _BEFORE_HOST.sub(r"\1***@", url)
