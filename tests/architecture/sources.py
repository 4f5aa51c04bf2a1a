"""Our own modules, parsed: what the tests of the architecture look at."""

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

PROJECT: Final = Path(__file__).parents[2]
PACKAGE: Final = PROJECT / "src/waterclock"


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    path: Path
    tree: ast.Module

    @property
    def name(self) -> str:
        """Inside the package: "engine.loop"; the package's own __init__ is ""."""
        return ".".join(self.path.relative_to(PACKAGE).with_suffix("").parts).removesuffix("__init__").rstrip(".")

    def at(self, node: ast.stmt | ast.expr | ast.ExceptHandler) -> str:
        return f"{self.path.relative_to(PROJECT)}:{node.lineno}"

    def imports(self) -> Iterator[tuple[ast.stmt, str]]:
        """Every module or name that it imports from waterclock, without the leading "waterclock."."""
        for node in ast.walk(self.tree):
            for module in imported(node):
                if isinstance(node, ast.stmt) and (module == "waterclock" or module.startswith("waterclock.")):
                    yield node, module.removeprefix("waterclock").removeprefix(".")


def imported(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Import(names=names):
            yield from (name.name for name in names)
        case ast.ImportFrom(module=str(module), names=names):
            yield from (f"{module}.{name.name}" for name in names)


def every_module(check: Callable[[Source], None]) -> Callable[[], None]:
    """One test out of a check of one module: it says of all of them which fail. (A test each would take a minute.)"""

    def test() -> None:
        failed = []
        for source in sources():
            try:
                check(source)
            except AssertionError as wrong:
                failed.append(f"{source.name or 'waterclock'}: {wrong}")
        assert not failed, "\n".join(failed)

    test.__name__, test.__doc__ = check.__name__, check.__doc__
    return test


@cache
def sources() -> list[Source]:
    return [Source(path=path, tree=ast.parse(path.read_bytes())) for path in sorted(PACKAGE.rglob("*.py"))]


def dotted(node: ast.AST) -> str:
    """`time.monotonic` for that expression; "" for what is no plain name."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=value, attr=attr) if inner := dotted(value):
            return f"{inner}.{attr}"
    return ""
