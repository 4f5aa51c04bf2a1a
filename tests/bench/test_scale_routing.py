"""Slots: where a key lives, and what a split moves."""

from collections import Counter

import pytest

from bench.scale.routing import SLOTS, SlotMap, slot_of


def test_a_key_has_its_slot_for_ever() -> None:
    """If one of these changes, every job would be looked for where it is not."""
    assert [slot_of(1, "glue", "etl"), slot_of(1, "lake", "etl"), slot_of(2, "glue", "물시계")] == [3520, 1099, 3029]


@pytest.mark.parametrize("shards", [1, 23, 64])
def test_keys_are_spread_evenly(shards: int) -> None:
    slots = SlotMap.of(shards)
    found = Counter(slots.shard_of(1, "glue", f"etl-2026-11-17-{number}") for number in range(20_000))
    assert set(found) == set(range(shards))
    mean = 20_000 / shards
    assert all(abs(count - mean) < 6 * mean**0.5 + 0.05 * mean for count in found.values())


def test_a_split_moves_half_of_one_shard_and_nothing_else() -> None:
    before = SlotMap.of(4)
    moving = before.split(2, into=4)
    after = before
    for slot in moving:
        after = after.moved(slot, 4)
    assert len(moving) == SLOTS // 4 // 2
    changed = [slot for slot in range(SLOTS) if before.shards[slot] != after.shards[slot]]
    assert changed == list(moving)
    assert after.version == before.version + len(moving)
    assert {before.shards[slot] for slot in changed} == {2}
