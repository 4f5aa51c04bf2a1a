"""Where packages and tools come from is the business of each machine: what this worker's environment says of it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from waterclock.runners.interpreters import PATH

_PROXIES: Final = ("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY")
_CONFIG: Final = "PIP_CONFIG_FILE"
_OWN_CONFIG: Final = ".config/pip/pip.conf"  # below the worker's home, which its programs do not have


def pip_variables(environ: Mapping[str, str]) -> dict[str, str]:
    """What an installation gets, and the job's own program does not: an address may hold a password."""
    given = {
        name: value
        for name, value in environ.items()
        if value and (name.startswith("PIP_") or name.upper() in _PROXIES)
    }
    own = Path(environ.get("HOME", "/"), _OWN_CONFIG)
    return {_CONFIG: str(own), **given} if own.is_file() else given


def java_variables(environ: Mapping[str, str]) -> dict[str, str]:
    """Tools of this worker that lie elsewhere than its programs look: the worker's own PATH comes first."""
    path = ":".join(part for part in (environ.get("PATH"), PATH) if part)
    return {"PATH": path, **({"JAVA_HOME": home} if (home := environ.get("JAVA_HOME")) else {})}
