"""Jars without a compiler, stand-ins for build tools and Java, and the repositories that they build."""

import io
import zipfile
from pathlib import Path
from typing import Final

# Copies what the repository calls `made/` to where a build would put it, and tells with what words it was called.
BUILDS: Final = 'printf "%s\\n" "$@" >>{told}\ncp -R made/. .\necho built by $(basename "$0")'


def jar_of(*classes: str, main_class: str | None = None, manifest: str = "") -> bytes:
    made = io.BytesIO()
    named = f"Main-Class: {main_class}\r\n" if main_class else ""
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr("META-INF/MANIFEST.MF", f"Manifest-Version: 1.0\r\n{manifest}{named}\r\n")
        for name in classes:
            archive.writestr(name.replace(".", "/") + ".class", b"")
    return made.getvalue()


def put(folder: Path, name: str, body: str) -> Path:
    """A program, in the words of a shell."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return path
