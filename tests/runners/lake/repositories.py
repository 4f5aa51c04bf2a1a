"""A real git repository for a test, with commits as it asks for them."""

import os
import subprocess
from pathlib import Path
from typing import Final

ENV: Final = {
    "PATH": os.environ["PATH"],
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    **{f"GIT_{who}_{what}": f"{what.lower()}@tests" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
}


class Repository:
    def __init__(self, path: Path, *, is_new: bool = True) -> None:
        self.path = path
        if is_new:
            path.mkdir(parents=True)
            self.git("init", "--quiet", "--initial-branch", "main")

    def commit(self, **files: str) -> str:
        """The new commit; a double underscore in a name is a dot."""
        return self.add({name.replace("__", "."): text.encode() for name, text in files.items()})

    def add(self, files: dict[str, bytes]) -> str:
        for name, data in files.items():
            path = self.path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", "a change")
        return self.git("rev-parse", "HEAD")

    def git(self, *words: str) -> str:
        ran = subprocess.run(["git", "-C", self.path, *words], env=ENV, check=True, capture_output=True, text=True)
        return ran.stdout.strip()
