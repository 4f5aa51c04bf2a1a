"""Where packages come from is the business of each machine: no file of ours names a registry."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import pytest

from tests.architecture.sources import PROJECT

REQUIREMENTS: Final = sorted((PROJECT / "requirements").glob("*.txt"))
NOT_OURS: Final = {".git", ".venv", ".cache", ".waterclock", "__pycache__", "node_modules", ".hypothesis"}
# Backwards: not even this file names one.
_BACKWARDS: Final = ("gro.ipyp", "gro.detsohnohtyp", "gro.naibed.bed", "gro.naibed.ytiruces", "gro.sjmpn.yrtsiger")
PUBLIC: Final = {name[::-1] for name in _BACKWARDS}
OPTION: Final = re.compile(r"(?:index[-_]url|find[-_]links|trusted[-_]host)[ =\"']+[^ \"'$]*[/.][^ \"'$]*[a-z]")
PIN: Final = re.compile(r"^([a-z0-9._-]+)==(\S+)", re.MULTILINE)


def our_files() -> list[Path]:
    """What git tracks or would; in a copy without git, whatever is no build product."""
    command = ["git", "-C", str(PROJECT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listing = subprocess.run(command, capture_output=True, text=True, check=False)
    if listing.returncode == 0:
        files = [PROJECT / name for name in listing.stdout.split("\0") if name]
    else:
        files = [path for path in PROJECT.rglob("*") if not NOT_OURS & set(path.relative_to(PROJECT).parts)]
    return [path for path in files if path.is_file() and path != Path(__file__)]


def registries() -> set[str]:
    """The public ones, and whatever pip is told to use on this machine."""
    pip = [sys.executable, "-m", "pip", "config", "list"]
    settings = subprocess.run(pip, capture_output=True, text=True, check=True).stdout
    hosts = {urlsplit(url).hostname for url in re.findall(r"https?://[^\s'\",]+", settings)}
    return PUBLIC | {host for host in hosts if host and host not in ("localhost", "127.0.0.1")}


def test_no_file_names_a_registry() -> None:
    hosts = re.compile("|".join(map(re.escape, sorted(registries()))))
    found = [
        f"{path.relative_to(PROJECT)}: {hit.group()}"
        for path in our_files()
        for text in [path.read_text(errors="replace")]
        if (hit := hosts.search(text) or OPTION.search(text))
    ]
    assert found == []


@pytest.mark.parametrize("path", REQUIREMENTS, ids=lambda path: path.stem)
def test_every_requirement_is_pinned_and_hashed(path: Path) -> None:
    entries = re.split(r"\n(?=[a-z0-9])", re.sub(r"^\s*#.*\n", "", path.read_text(), flags=re.MULTILINE))
    assert [entry for entry in entries if not PIN.match(entry) or "--hash=sha256:" not in entry] == []


def test_tests_run_on_the_versions_that_are_served() -> None:
    core, dev = (dict(PIN.findall((PROJECT / f"requirements/{name}.txt").read_text())) for name in ("core", "dev"))
    assert core.items() <= dev.items()


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("--index-url https://host.example/simple", True),
        ("PIP_FIND_LINKS=/opt/wheels/x", True),
        ('grep -E "--(index-url|find-links)"', False),
        ("no --find-links lines", False),
    ],
)
def test_the_rule_itself(text: str, verdict: bool) -> None:
    assert bool(re.search(OPTION.pattern, text, re.IGNORECASE)) is verdict
