"""The folders of an attempt: a working directory of its own, gone when it ended, and a log that stays."""

import os
import pwd
import shutil
import tempfile
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from waterclock.domain.errors import CannotRun
from waterclock.domain.log_name import log_name
from waterclock.domain.run import Attempt
from waterclock.runners.spare_folders import MODE, SpareFolders

_ASIDE: Final = ".left-"


@dataclass(frozen=True, slots=True, kw_only=True)
class Workspaces:
    work_root: Path
    log_root: Path
    user: str = ""  # the system user that programs run as, where that is not ours
    spares: SpareFolders = field(init=False)

    def __post_init__(self) -> None:
        """Beside the others, not among them: those are of attempts."""
        object.__setattr__(self, "spares", SpareFolders(f"{self.work_root}.spare"))

    def folder(self, attempt_id: int) -> Path:
        return self.work_root / str(attempt_id)

    def make(self, attempt_id: int) -> Path:
        folder = self.folder(attempt_id)
        with suppress(FileExistsError):
            self._new(folder)
        if owner := self.owner():
            os.chown(folder, *owner)
        return folder

    def fresh(self, attempt_id: int) -> Path:
        """Empty, whatever an earlier try has left, and ours alone until `make` gives it to its user."""
        folder = self.folder(attempt_id)
        try:
            self._new(folder)
        except FileExistsError:
            self.remove(attempt_id)
            self._new(folder)
        return folder

    def _new(self, folder: Path) -> None:
        if not self.user and self.spares.take(str(folder)):
            return
        try:
            os.mkdir(folder, MODE)
        except FileNotFoundError:
            self.work_root.mkdir(mode=0o711, parents=True, exist_ok=True)
            os.mkdir(folder, MODE)

    def owner(self) -> tuple[int, int] | None:
        """Of what is put into a folder: user and group, where they are not ours."""
        account = _account(self.user) if self.user else None
        return (account.pw_uid, account.pw_gid) if account else None

    def remove(self, attempt_id: int) -> None:
        folder = f"{self.work_root}/{attempt_id}"
        try:
            for name in os.listdir(folder):  # most have no folder in them
                os.unlink(f"{folder}/{name}")
            if self.user or not self.spares.keep(folder):  # what has another owner is not for anybody else
                os.rmdir(folder)
        except OSError:
            shutil.rmtree(folder, ignore_errors=True)

    def set_aside(self, besides: Collection[int]) -> Callable[[], None]:
        """Whatever was left here, by a host that lost its power say, but for these; what is returned removes it."""
        known = {str(attempt_id) for attempt_id in besides}
        with suppress(OSError):  # no reason not to start
            if left := [name for name in os.listdir(self.work_root) if name.isdigit() and name not in known]:
                aside = tempfile.mkdtemp(prefix=_ASIDE, dir=self.work_root)
                for name in left:
                    os.rename(self.work_root / name, f"{aside}/{name}")
        return self._remove_what_is_aside

    def _remove_what_is_aside(self) -> None:
        for folder in self.work_root.glob(f"{_ASIDE}*"):
            shutil.rmtree(folder, ignore_errors=True)
        self.spares.clear()

    def log(self, attempt: Attempt) -> Path:
        path = self.log_root / log_name(attempt.wire_id, attempt.run_at)
        if not path.parent.is_dir():
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        return path


def _account(user: str) -> pwd.struct_passwd:
    try:
        return pwd.getpwnam(user)
    except KeyError:
        raise CannotRun(f"the system user {user!r} that programs should run as does not exist on this worker") from None
