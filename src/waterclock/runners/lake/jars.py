"""Jars: what is in them, and which of several is the one to run."""

import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from waterclock.runners.lake.task import TaskFailed

MANIFEST: Final = "META-INF/MANIFEST.MF"
LARGEST_MANIFEST: Final = 1024 * 1024
MOST_NAMED: Final = 10  # in an answer

# Beside the program: its sources, its tests, and what it was before all that it needs was packed into it.
_BESIDE: Final = ("-sources.jar", "-javadoc.jar", "-tests.jar", "-test.jar", "-test-fixtures.jar", "-plain.jar")
_BEFORE: Final = "original-"
_WRAPPERS: Final = frozenset({"gradle-wrapper.jar", "maven-wrapper.jar"})


def attributes_of(jar: Path) -> dict[str, str]:
    """The main section of its manifest, names in lower case; empty where it has none."""
    try:
        with zipfile.ZipFile(jar) as archive, archive.open(MANIFEST) as file:
            text = file.read(LARGEST_MANIFEST).decode(errors="replace")
    except KeyError:
        return {}
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError) as problem:
        raise TaskFailed(f"{jar.name} cannot be read as a jar: {problem}") from None
    lines = text.replace("\r\n", "\n").replace("\r", "\n").partition("\n\n")[0].replace("\n ", "").splitlines()
    pairs = (line.partition(":") for line in lines)
    return {name.strip().lower(): value.strip() for name, colon, value in pairs if colon}


def main_class_of(jar: Path) -> str | None:
    return attributes_of(jar).get("main-class") or None


def has_class(place: Path, name: str) -> bool:
    """In a jar or a folder of classes; true also of a jar that names further ones, for it may be in those."""
    file = name.replace(".", "/") + ".class"
    if place.is_dir():
        return (place / file).is_file()
    if "class-path" in attributes_of(place):
        return True
    with zipfile.ZipFile(place) as archive:
        return file in archive.NameToInfo


def programs(jars: Sequence[Path]) -> list[Path]:
    """Without those that only lie beside a program; all of them, where nothing else is there."""
    ours = [jar for jar in jars if jar.name not in _WRAPPERS]
    found = [jar for jar in ours if not jar.name.endswith(_BESIDE) and not jar.name.startswith(_BEFORE)]
    return found or ours


def chosen(jars: Sequence[Path], root: Path) -> Path:
    """The one that can be run by itself; where that is not clear, the answer says what there is."""
    candidates = programs(jars)
    runnable = [jar for jar in candidates if main_class_of(jar)]
    if len(runnable) == 1:
        return runnable[0]
    if runnable:
        raise TaskFailed(f"several jars have a Main-Class: {named(runnable, root)}; say with `jar` which one to run")
    if not candidates:
        raise TaskFailed("there is no jar to run: set `build_tool`, or name the class to run with `main_class`")
    raise TaskFailed(f"no Main-Class in the manifest of {named(candidates, root)}: name the class with `main_class`")


def named(places: Sequence[Path], root: Path) -> str:
    names = sorted(str(place.relative_to(root)) for place in places)
    return ", ".join(names[:MOST_NAMED]) + (f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else "")
