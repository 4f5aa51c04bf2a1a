"""A result's folder where folders can be renamed: made beside its place, then put there.

    .waterclock-7-12-new-abc   while it is loaded
    abc -> .waterclock-7-12-old-abc, .waterclock-7-12-new-abc -> abc, and the old one is removed, or kept (kept.py)

Whoever dies between the two renames leaves a place that is empty and an old folder beside it: the next sweep puts it
back. Two jobs that write to one place take turns by rename, which fails where the place is taken: the last one's folder
is there, as a whole.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Final, Protocol

from waterclock import clock
from waterclock.runners.sql import kept
from waterclock.runners.sql.aside import Aside, Stage, left_for
from waterclock.runners.sql.folder import DONE, Mode, Sink, check_replaceable, part_name
from waterclock.runners.sql.how import How
from waterclock.runners.sql.outputs import OutputFailed, Tag

_TRIES: Final = 20  # others may put theirs into the place, each time between our two renames


class Tree(Protocol):
    """The folder that the result's folder stands in; names are relative to it. What goes wrong is an OutputFailed."""

    def names(self, folder: str = "") -> Sequence[str] | None:
        """What stands in it; None where there is no such folder. A file in its place is an error."""
        ...

    def make(self, folder: str) -> None:
        """With all that is above it."""
        ...

    def create(self, path: str) -> Sink: ...

    def read(self, path: str) -> Iterator[bytes]: ...

    def rename(self, path: str, to: str) -> bool:
        """False where there is nothing at `path`, or `to` is taken by a folder that holds something, or by a file."""
        ...

    def remove(self, path: str) -> None:
        """With all that is below it; it may be gone already."""
        ...


class SwappedFolder:
    def __init__(self, tree: Tree, *, where: str, name: str, how: How, tag: Tag) -> None:
        self.where = where
        self._tree, self._name, self._mode, self._tag = tree, name, how.mode, tag
        self._keep_hours = how.keep_hours
        self._new = str(Aside(tag=tag, stage=Stage.NEW, of=name))
        self._part = ""

    def sweep(self) -> None:
        there = self._tree.names() or ()
        for left in sorted(left_for(self._tag, self._name, there), key=_latest_first):
            # Where the place is taken, what was there before is not needed any more.
            if left.stage is not Stage.OLD:
                self._tree.remove(str(left))
            elif not self._tree.rename(str(left), left.of):
                self._retire(str(left), left.of)
        for name in kept.due(there, wall_us=clock.wall_us()):
            self._tree.remove(name)

    def create(self, ending: str) -> Sink:
        self._check()
        self._part = part_name(self._mode, self._tag, ending)
        self._tree.make(self._new)
        return self._tree.create(f"{self._new}/{self._part}")

    def parts(self) -> Iterator[tuple[str, Iterator[bytes]]]:
        for name in sorted(self._tree.names(self._name) or ()):
            if not name.startswith((".", "_")):
                yield name, self._tree.read(f"{self._name}/{name}")

    def commit(self) -> None:
        self._check_loaded()
        self._tree.create(f"{self._new}/{DONE}").close()
        if self._mode is Mode.REPLACE:
            self._swap()
        elif not self._tree.rename(self._new, self._name):
            self._add()

    def abort(self) -> None:
        self.sweep()

    def _check(self) -> None:
        names = self._tree.names(self._name)
        if names and self._mode is Mode.REPLACE:
            check_replaceable(self.where, names)

    def _check_loaded(self) -> None:
        """Before the place is emptied for nothing."""
        if self._part not in (self._tree.names(self._new) or ()):
            raise OutputFailed(f"{self.where}: a later run of this job has removed what was to be put there")

    def _add(self) -> None:
        """One rename: it has one part."""
        if not self._tree.rename(f"{self._new}/{self._part}", f"{self._name}/{self._part}"):
            raise OutputFailed(f"{self.where} is gone, or already has a {self._part}: nothing was added to it")
        with suppress(OutputFailed):
            self._tree.rename(f"{self._new}/{DONE}", f"{self._name}/{DONE}")
            self._tree.remove(self._new)

    def _swap(self) -> None:
        moved: list[str] = []
        for number in range(_TRIES):
            if self._tree.rename(self._new, self._name):
                break
            self._check()
            self._check_loaded()
            old = str(Aside(tag=self._tag, stage=Stage.OLD, of=self._name, number=number))
            if self._tree.rename(self._name, old):
                moved.append(old)
        else:
            raise OutputFailed(f"{self.where} is written to by others all the time: the result was not put there")
        with suppress(OutputFailed):  # the rows are where they should be; a sweep will come
            for old in moved:
                self._retire(old, self._name)
            for name in kept.too_many(self._tree.names() or (), self._tag, self._name):
                self._tree.remove(name)

    def _retire(self, old: str, of: str) -> None:
        """Kept for as long as the job asks, or removed."""
        if self._keep_hours:
            name = kept.kept(self._tag, of, hours=self._keep_hours, wall_us=clock.wall_us())
            if self._tree.rename(old, name):
                return
        self._tree.remove(old)


def _latest_first(left: Aside) -> tuple[int, int]:
    return -left.tag.attempt_id, -left.number
