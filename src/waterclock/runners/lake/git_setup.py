"""How git is called: nothing of this host's settings, one protocol, the addresses that were found, no questions.

Settings and credentials are files in a folder that these calls have for themselves, never words of a command.
"""

import os
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import quote

from waterclock.runners.lake.git_address import PORTS, Address, Scheme
from waterclock.runners.lake.task import TaskFailed

TOKEN_USER: Final = "x-access-token"  # beside a token alone: servers that take one do not look at the name

_KEY: Final = "PRIVATE KEY-----"
_GIVEN_ON: Final = ("PATH", "GIT_SSL_CAINFO")
_OURS: Final = "WATERCLOCK_"  # by these a supervisor knows whose process it is

# Local objects are ours or the admin's, whoever of them made them; nothing that a repository brings is executed.
_SETTINGS: Final[Mapping[str, str]] = {
    "safe.directory": "*",
    "core.hooksPath": os.devnull,
    "core.fsmonitor": "false",
    "submodule.recurse": "false",
    "fetch.recurseSubmodules": "false",
    "gc.autoDetach": "false",
    "maintenance.autoDetach": "false",
    "advice.detachedHead": "false",
    "init.defaultBranch": "main",
    "http.followRedirects": "false",
    "http.lowSpeedLimit": "1",
    "http.lowSpeedTime": "60",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    folder: Path  # removed with all that is in it when git is done
    address: Address
    found: tuple[str, ...] = ()  # where its host is: nowhere else does git go
    credentials: str | None = None
    hosts: Path = Path(os.devnull)  # the ssh hosts that are known; it stays

    def environment(self) -> dict[str, str]:
        config = _write(self.folder / "config", "".join(_lines({**_SETTINGS, **self._own_settings()})))
        given = {name: value for name, value in os.environ.items() if name in _GIVEN_ON or name.startswith(_OURS)}
        ours = {
            "HOME": str(self.folder),
            "LC_ALL": "C.UTF-8",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": str(config),
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_ALLOW_PROTOCOL": self.address.scheme.value,
        }
        if self.address.scheme is Scheme.SSH:
            ours |= {"GIT_SSH_COMMAND": shlex.join(self._ssh()), "GIT_SSH_VARIANT": "ssh"}
        return {**given, **ours}

    def _own_settings(self) -> Mapping[str, str]:
        if self.address.scheme is not Scheme.HTTPS:
            return {}
        there = ",".join(f"[{each}]" if ":" in each else each for each in self.found)
        held = {"http.curloptResolve": f"{self.address.host}:{self.address.port}:{there}"}
        login = self._login()
        if login is None:
            return held
        file = _write(self.folder / "credentials", login)
        return {**held, "credential.helper": f"store --file={shlex.quote(str(file))}"}

    def _login(self) -> str | None:
        """As git's own store has it: for this host and port alone."""
        user, password = self.address.user, self.address.password
        if self.credentials and _KEY in self.credentials:
            raise TaskFailed("credentials: a private key is for ssh, and git_url is https: name a secret with a token")
        if self.credentials and user:  # https://bob@host: the secret is his password, alone or after his name
            password = self.credentials.strip().removeprefix(f"{user}:")
        elif self.credentials:
            first, colon, rest = self.credentials.strip().partition(":")
            user, password = (first, rest) if colon else (TOKEN_USER, first)
        if not password and not user:
            return None
        if not password:  # https://TOKEN@host
            user, password = TOKEN_USER, user
        where = self.address.url.removeprefix("https://").partition("/")[0]
        return f"https://{quote(user, safe='')}:{quote(password, safe='')}@{where}\n"

    def _ssh(self) -> Iterator[str]:
        """A host that is met for the first time is remembered; one whose key has changed since is refused."""
        host, port = self.address.host.strip("[]"), self.address.port
        yield from ("ssh", "-F", os.devnull)
        yield from _options(
            BatchMode="yes",
            StrictHostKeyChecking="accept-new",
            UserKnownHostsFile=f'"{self.hosts}"',
            HostName=self.found[0],
            HostKeyAlias=host if port == PORTS[Scheme.SSH] else f"[{host}]:{port}",
            CheckHostIP="no",
            IdentityAgent="none",
            IdentitiesOnly="yes",
            ConnectTimeout="30",
            ServerAliveInterval="15",
        )
        if self.credentials is None:
            yield from _options(IdentityFile="none")
            return
        if _KEY not in self.credentials:
            raise TaskFailed("credentials: for ssh the secret must be a private key, such as ssh-keygen makes")
        key = _write(self.folder / "key", self.credentials.strip() + "\n")
        yield from ("-i", str(key))


def _options(**options: str) -> Iterator[str]:
    for name, value in options.items():
        yield from ("-o", f"{name}={value}")


def _lines(settings: Mapping[str, str]) -> Iterator[str]:
    for name, value in settings.items():
        section, _, key = name.partition(".")
        escaped = value.replace("\\", "\\\\").replace('"', '\\"')
        yield f'[{section}]\n\t{key} = "{escaped}"\n'


def _write(path: Path, text: str) -> Path:
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    with open(fd, "w", encoding="utf-8") as file:
        file.write(text)
    return path
