"""The seam of the notices: somebody who can send one."""

from typing import Protocol

from waterclock.domain.errors import WaterclockError
from waterclock.domain.notice import Notice


class NotSent(WaterclockError):
    """Why, in words that hold nothing of the address's secrets."""


class Sender(Protocol):
    async def check(self, address: str) -> str:
        """What may be shown of an address; `InvalidInput` says why it cannot be a channel's."""
        ...

    async def send(self, address: str, notice: Notice) -> None:
        """It was taken on when this returns; `NotSent` says why not."""
        ...
