"""A channel: where notices to operators go, and how it fares. Its address is a secret; a masked one is shown."""

from dataclasses import dataclass

from waterclock.domain.message import ChannelRules, Message
from waterclock.domain.moment import Moment

Place = tuple[int, str]  # a channel's organisation and name


@dataclass(frozen=True, slots=True, kw_only=True)
class Channel:
    org_id: int
    name: str
    sealed: str  # the address
    shown: str  # what people see of it
    rules: ChannelRules
    on: bool
    owner: str
    last_sent_at: Moment | None
    last_failed_at: Moment | None
    last_error: str | None
    created_at: Moment
    updated_at: Moment


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """One message on its way through one channel; `tries` counts this one, too."""

    message: Message
    channel: Channel
    tries: int

    @property
    def place(self) -> Place:
        return self.channel.org_id, self.channel.name


def seal_context(org_id: object, name: object) -> str:
    """What an address is sealed for: moved to another channel, it does not open."""
    return f"channel/{org_id}/{name}"
