"""Imports go one way: domain < stores, runners, notices < engine, services < faces; one root chooses the classes."""

import ast
from typing import Final

import pytest

from tests.architecture.sources import Source, every_module, imported, sources

# What each part may import besides itself; a longer name narrows it to one module (the protocol of the seam).
MAY_IMPORT: Final[dict[str, tuple[str, ...]]] = {
    "domain": (),
    "clock": ("domain",),
    "settings": ("domain",),
    "reachable": (),
    "chaos": ("domain",),
    "triggers": ("domain", "clock"),
    "executors": ("runners.proc",),
    "stores": ("domain", "clock", "settings"),
    "runners": ("domain", "clock", "settings", "reachable"),
    "notices": ("domain", "clock", "settings", "reachable"),
    # Operations are written against the transaction's protocol: the seam of the stores, docs/decisions/0001.
    "services": (
        *("domain", "clock", "settings", "stores.base", "stores.ops"),
        *("runners.base", "runners.logs", "runners.log_lines", "runners.log_store", "runners.log_threads"),
        "notices.base",
    ),
    "engine": (
        *("domain", "clock", "settings", "stores.base", "stores.ops", "notices.base"),
        *("runners.base", "runners.log_store", "runners.outbox"),
    ),
}
IMPURE: Final = (
    "asyncio",
    "logging",
    "os",
    "pathlib",
    "random",
    "socket",
    "sqlite3",
    "subprocess",
    "threading",
    "time",
)


def part_of(module: str) -> str:
    return module.partition(".")[0]


def is_within(module: str, allowed: str) -> bool:
    return module == allowed or module.startswith(f"{allowed}.")


def allowed(importer: str, module: str) -> bool:
    """A module of no listed part is a composition root: it and the faces may import all, nobody below may import it."""
    part = part_of(importer)
    if part not in MAY_IMPORT or module in ("", "__version__"):
        return True
    return any(is_within(module, ours) for ours in (part, *MAY_IMPORT[part]))


@every_module
def test_imports_go_one_way(source: Source) -> None:
    wrong = [
        f"{source.at(node)} imports {module}" for node, module in source.imports() if not allowed(source.name, module)
    ]
    assert wrong == []


def test_the_domain_is_pure() -> None:
    wrong = [
        f"{source.path.name} imports {module}"
        for source in sources()
        if part_of(source.name) == "domain"
        for node in ast.walk(source.tree)
        for module in imported(node)
        if part_of(module) in IMPURE
    ]
    assert wrong == []


@pytest.mark.parametrize(
    ("importer", "module", "verdict"),
    [
        ("domain.run", "stores.base", False),
        ("domain.run", "domain.errors", True),
        ("engine.ticker", "stores.sqlite", False),
        ("engine.ticker", "stores.base.Store", True),
        ("services.jobs", "engine.loop", False),
        ("services.jobs", "faces.glue", False),
        ("stores.sqlite", "runners.base", False),
        ("engine.ticker", "server", False),
        ("server", "stores.sqlite", True),
        ("faces.cli.up", "server", True),
    ],
)
def test_the_rule_itself(importer: str, module: str, verdict: bool) -> None:
    assert allowed(importer, module) is verdict
