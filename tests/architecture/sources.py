"""Our own modules, parsed: what the tests of the architecture look at."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
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
