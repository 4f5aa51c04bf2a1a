"""A message: a durable notice to operators. What it tells of, and which channels want to hear it."""

from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from waterclock.domain.chain import IMPORTANT
from waterclock.domain.moment import Moment

LONGEST_SUBJECT: Final = 255
LONGEST_OUTPUT: Final = 4_000


class MessageKind(StrEnum):
    BOOKMARK = "bookmark"  # what a program left cannot be saved
    LATE = "late"  # a run takes longer than its job said
    FAILED = "chain_failed"  # a step failed or timed out
    GATE_FAILED = "gate_failed"  # a gate erred too often, or did not pass in time
    SKIPPED = "chain_skipped"  # a fire that did not run: overlap, or its role is down
    IMPORTED = "chain_imported"  # came in OFF: something in it cannot be carried as it is
    FAILOVER = "failover"  # a run goes on at the other machine: its own is down
    CHANNEL_FAILED = "channel_failed"  # a notice could not be delivered


class Severity(StrEnum):
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True, slots=True, kw_only=True)
class NewMessage:
    """A notice as decided, before it has a number."""

    org_id: int
    kind: MessageKind
    severity: Severity
    subject: str
    body: str
    run_id: int | None = None
    chain_id: int | None = None
    flow_run_id: int | None = None
    tag: str | None = None
    subtag: str | None = None
    node: str | None = None  # the node that it is about: its debugmode mutes it


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    id: int
    org_id: int
    kind: str
    severity: str
    run_id: int | None
    chain_id: int | None
    flow_run_id: int | None
    tag: str | None
    subtag: str | None
    node: str | None
    subject: str
    body: str
    created_at: Moment
    read_at: Moment | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SoughtMessages:
    """Which messages are looked for; what is empty does not matter."""

    unread: bool = False
    kind: str = ""
    tag: str = ""  # its chain's tag or subtag
    chain_id: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelRules:
    """What a channel is told of. No tag named means `important`, `*` any; no kind and no severity mean all."""

    tags: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    severities: tuple[str, ...] = ()


def wants(rules: ChannelRules, message: Message) -> bool:
    """That a channel fails, and what has no chain, concerns whoever looks after the system: no tag is asked for."""
    return (
        _is_among(message.kind, rules.kinds)
        and _is_among(message.severity, rules.severities)
        and _tagged(rules, message)
    )


def _tagged(rules: ChannelRules, message: Message) -> bool:
    wanted: Collection[str] = rules.tags or (IMPORTANT,)
    return message.chain_id is None or "*" in wanted or bool({message.tag, message.subtag} & set(wanted))


def _is_among(value: str, wanted: Collection[str]) -> bool:
    return not wanted or value in wanted
