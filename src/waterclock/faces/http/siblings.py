"""What the API processes behind one socket know of each other: a page of memory that all of them share.

Each writes its own part and reads the others'. Nothing is decided by it that must be right: who takes the next
connection, whether the whole server drains, how many requests all of them have answered.
"""

import mmap
import os
import struct
from collections import Counter
from typing import Final

import orjson

PAGE_FD: Final = "WATERCLOCK_SIBLINGS_FD"
NUMBER: Final = "WATERCLOCK_SIBLING"  # which of them a process is, from 0

Requests = Counter[tuple[str, str, int]]  # by face, action, status

_HEAD: Final = struct.Struct("=iiiii")  # connections, draining, which text is whole, the length of each
_TEXT_BYTES: Final = 64 * 1024  # faces, actions and statuses are few
_PART_BYTES: Final = _HEAD.size + 2 * _TEXT_BYTES
_GONE: Final = 2**31 - 1  # a process that is not there takes no connections


def new_page(count: int) -> int:
    """An open file that children inherit; it goes with the last of them."""
    fd = os.memfd_create("waterclock-siblings")
    os.ftruncate(fd, count * _PART_BYTES)
    return fd


def mark_gone(fd: int, number: int) -> None:
    """What the parent says of a child that has ended; what it had counted stays."""
    os.pwrite(fd, struct.pack("=ii", _GONE, 0), number * _PART_BYTES)


class Siblings:
    """The page as one of the processes sees it; alone, where there are no others."""

    def __init__(self, fd: int = -1, number: int = 0) -> None:
        self._size = _PART_BYTES if fd < 0 else os.fstat(fd).st_size
        self._page = mmap.mmap(fd, self._size)
        self._at = number * _PART_BYTES
        self._others = [at for at in range(0, self._size, _PART_BYTES) if at != self._at]
        self.connections = 0
        self.drain(False)

    @classmethod
    def inherited(cls) -> "Siblings":
        """As the parent told us; alone where nobody did."""
        fd = int(os.environ.pop(PAGE_FD, "-1"))
        found = cls(fd, int(os.environ.pop(NUMBER, "0")))
        if fd >= 0:
            os.close(fd)  # the page stays
        return found

    @property
    def is_alone(self) -> bool:
        return not self._others

    @property
    def connections(self) -> int:
        return self._number(self._at)

    @connections.setter
    def connections(self, count: int) -> None:
        struct.pack_into("=i", self._page, self._at, count)

    @property
    def is_busiest(self) -> bool:
        """Whether another has fewer connections."""
        mine = self.connections
        return any(self._number(at) < mine for at in self._others)

    def drain(self, draining: bool) -> None:
        struct.pack_into("=i", self._page, self._at + 4, draining)

    @property
    def is_draining(self) -> bool:
        """The socket is one: where one of them drains, all do."""
        return any(self._number(at + 4) for at in (self._at, *self._others))

    def tell(self, requests: Requests) -> None:
        """Written beside what stands, which is whole until it is not the one to be read any more."""
        text = orjson.dumps([(*key, count) for key, count in requests.items()])
        if len(text) <= _TEXT_BYTES:
            which = 1 - self._number(self._at + 8)
            begin = self._at + _HEAD.size + which * _TEXT_BYTES
            self._page[begin : begin + len(text)] = text
            struct.pack_into("=i", self._page, self._at + 12 + 4 * which, len(text))
            struct.pack_into("=i", self._page, self._at + 8, which)

    def told_before(self) -> Requests:
        """By whoever had our place before us: counters go on after a restart."""
        return self._requests(self._at)

    def told_by_others(self) -> Requests:
        return sum((self._requests(at) for at in self._others), Counter())

    def _requests(self, at: int) -> Requests:
        _, _, which, *lengths = _HEAD.unpack_from(self._page, at)
        begin = at + _HEAD.size + which * _TEXT_BYTES
        text = self._page[begin : begin + lengths[which]]
        try:
            return Counter({(face, action, status): count for face, action, status, count in orjson.loads(text)})
        except orjson.JSONDecodeError:  # nobody has told anything yet; or two wrote while we read
            return Counter()

    def _number(self, at: int) -> int:
        found: int = struct.unpack_from("=i", self._page, at)[0]
        return found
