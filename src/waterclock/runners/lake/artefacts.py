"""What a build leaves that a run needs: the jars that it made, or its folders of classes where it made no jar."""

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

CLASSES: Final = (
    *("target/classes", "build/classes/*/main", "build/resources/main", "target/scala-*/classes"),
    *("classes", "bin", "out/production/*"),
)

Seen = dict[Path, tuple[int, int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Artefacts:
    """In a checkout: what may be run."""

    jars: tuple[Path, ...]
    classes: tuple[Path, ...]  # folders


def seen(root: Path) -> Seen:
    """Every jar below, and how to tell that it was made anew; not in folders whose names begin with a dot."""
    return {jar.relative_to(root): (jar.stat().st_mtime_ns, jar.stat().st_size) for jar in _jars(root)}


def keep(root: Path, before: Seen, into: Path) -> bool:
    """Copy what was made since `before`, each in its place; False where nothing was."""
    jars = [path for path, mark in seen(root).items() if before.get(path) != mark]
    for jar in jars:
        _copy(root / jar, into / jar)
    folders = [] if jars else list(_classes(root))
    for folder in folders:
        shutil.copytree(folder, into / folder.relative_to(root), copy_function=_copy)
    return bool(jars or folders)


def place(kept: Path, root: Path) -> Artefacts:
    """As they were kept, in a fresh checkout."""
    shutil.copytree(kept, root, dirs_exist_ok=True)
    jars = tuple(root / jar.relative_to(kept) for jar in _jars(kept))
    return Artefacts(jars=jars, classes=tuple(root / each.relative_to(kept) for each in _classes(kept)))


def committed(root: Path) -> Artefacts:
    """Where nothing is built: what lies in the repository itself, which may be a folder of classes as a whole."""
    return Artefacts(jars=tuple(_jars(root)), classes=(root, *_classes(root)))


def _jars(root: Path) -> Iterator[Path]:
    for at, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        yield from (
            Path(at, name) for name in sorted(names) if name.endswith(".jar") and os.path.isfile(f"{at}/{name}")
        )


def _classes(root: Path) -> Iterator[Path]:
    yield from (path for pattern in CLASSES for path in sorted(root.glob(pattern)) if path.is_dir())


def _copy(source: str | Path, target: str | Path) -> None:
    """On the disk before its entry is: a host that loses power must not keep half a jar for a whole one."""
    Path(target).parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(source, target)
    fd = os.open(target, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
