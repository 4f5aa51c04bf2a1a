"""Which shard a job, its triggers and its runs live on: a fixed number of slots by hash, each slot on one shard.

Keys never change their slot, only slots move; so a split moves the slots of one shard and nothing else, and a table of
4,096 numbers is all that anybody has to know.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

SLOTS: Final = 4_096


def slot_of(org_id: int, namespace: str, name: str) -> int:
    """Of a job: its triggers and runs go with it. The same for ever and on every machine."""
    key = f"{org_id}\0{namespace}\0{name}".encode()
    return int.from_bytes(hashlib.blake2b(key, digest_size=8).digest()) % SLOTS


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotMap:
    """`version` grows with every change: who knows an older one is told so by the shard that it asks."""

    version: int
    shards: tuple[int, ...]  # by slot

    @classmethod
    def of(cls, shards: int) -> "SlotMap":
        """Evenly, in runs of neighbours."""
        return cls(version=1, shards=tuple(slot * shards // SLOTS for slot in range(SLOTS)))

    def shard_of(self, org_id: int, namespace: str, name: str) -> int:
        return self.shards[slot_of(org_id, namespace, name)]

    def slots_on(self, shard: int) -> Sequence[int]:
        return [slot for slot, where in enumerate(self.shards) if where == shard]

    def moved(self, slot: int, shard: int) -> "SlotMap":
        """One slot at a time: what is under way is never more than a 4,096th of everything."""
        return replace(self, version=self.version + 1, shards=(*self.shards[:slot], shard, *self.shards[slot + 1 :]))

    def split(self, shard: int, into: int) -> Sequence[int]:
        """The slots that have to move, in their order, so that two shards have half of them each."""
        slots = self.slots_on(shard)
        assert into not in self.shards, f"shard {into} has slots already"
        return slots[len(slots) // 2 :]
