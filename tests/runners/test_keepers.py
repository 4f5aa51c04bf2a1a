"""How many keepers there are: as many as programs need, and none that would come free anyway is forked beside them."""

from typing import cast

from waterclock.runners import wire
from waterclock.runners.supervisor.keepers import KeeperLink, Keepers
from waterclock.runners.supervisor.zygote import Zygote


class ForksNothing:
    """A zygote that only counts what it was asked for, and answers at once."""

    def __init__(self) -> None:
        self.asked = 0

    def fork(self, control: int) -> None:
        self.asked += 1


class HearsNothing:
    def keeper_ready(self) -> None: ...

    def keeper_said(self, keeper: KeeperLink, message: wire.Message) -> None: ...

    def keeper_gone(self, keeper: KeeperLink) -> None: ...


class Pool:
    """Keepers on a clock of their own, each ready as soon as it is forked."""

    def __init__(self) -> None:
        self.now = 0.0
        self.zygote = ForksNothing()
        self.keepers = Keepers(cast(Zygote, self.zygote), HearsNothing(), lambda: self.now)

    def provide(self, waiting: int) -> None:
        self.keepers.provide(waiting)
        for keeper in list(self.keepers._forking):
            self.keepers.ready(keeper)

    def busy(self) -> list[KeeperLink]:
        """As many keepers as are forked without anybody waiting long, all at work."""
        taken: list[KeeperLink] = []
        before = -1
        while self.zygote.asked > before:
            before = self.zygote.asked
            self.provide(1)
            while (keeper := self.keepers.take()) is not None:
                taken.append(keeper)
        return taken


async def test_two_wait_in_reserve_before_anybody_asks() -> None:
    pool = Pool()
    for _ in range(5):
        pool.provide(0)
    assert pool.zygote.asked == 2


async def test_no_reserve_is_forked_while_busy_keepers_come_free() -> None:
    """A burst of short programs has moments in which none waits: they must not grow the pool one by one."""
    pool = Pool()
    busy = pool.busy()
    before = pool.zygote.asked
    for _ in range(50):
        pool.now += 0.005
        pool.keepers.give_back(busy[0])
        assert pool.keepers.take() is busy[0]
        pool.provide(0)
    assert pool.zygote.asked == before


async def test_a_reserve_is_forked_once_none_has_come_free_for_a_while() -> None:
    pool = Pool()
    pool.busy()
    before = pool.zygote.asked
    for _ in range(4):
        pool.now += 0.1
        pool.provide(0)
    assert pool.zygote.asked == before + 2
