"""The supervisor's renewals: a store that is slow is waited for, and one that could not be opened is tried again."""

import asyncio
from typing import Any

import pytest

from waterclock.app import supervision
from waterclock.app.supervision import StoreLeases
from waterclock.domain.errors import Unavailable


class SlowStore:
    """Each that is opened counts; it opens when it is let, and renews all that it is asked to."""

    def __init__(self) -> None:
        self.opened = 0
        self.is_broken = False
        self.let = asyncio.Event()

    async def open(self) -> None:
        self.opened += 1
        await self.let.wait()
        if self.is_broken:
            raise Unavailable("not now")

    async def write(self, _operation: object, *, held: list[tuple[int, int]], **_: Any) -> frozenset[int]:
        return frozenset(attempt_id for attempt_id, _ in held)


@pytest.fixture
async def store(monkeypatch: pytest.MonkeyPatch) -> SlowStore:
    store = SlowStore()
    monkeypatch.setattr(supervision, "database_from_url", lambda _url: store)
    return store


async def test_a_renewal_that_is_given_up_does_not_begin_the_opening_anew(store: SlowStore) -> None:
    leases = StoreLeases("any")
    for _ in range(3):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await leases.renew([(1, 1)], 3)
    store.let.set()
    assert await leases.renew([(1, 1)], 3) == {1}
    assert store.opened == 1


async def test_a_store_that_could_not_be_opened_is_opened_again(store: SlowStore) -> None:
    leases = StoreLeases("any")
    store.let.set()
    store.is_broken = True
    for _ in range(2):
        with pytest.raises(Unavailable):
            await leases.renew([(1, 1)], 3)
    store.is_broken = False
    assert await leases.renew([(1, 1)], 3) == {1}
    assert store.opened == 3
