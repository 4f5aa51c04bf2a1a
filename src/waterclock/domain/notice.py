"""A notice: a message as it is sent to people, and when it is tried again if that fails."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from waterclock.domain.message import Message, Severity
from waterclock.domain.moment import to_iso

PAUSES_SECONDS: Final = (10.0, 60.0, 300.0, 1_800.0)  # after the first try, the second …
MOST_TRIES: Final = len(PAUSES_SECONDS) + 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    severity: Severity
    subject: str  # one line
    body: str


def notice_of(message: Message) -> Notice:
    subject = " ".join(message.subject.split())  # a line's end in it would begin another header of a mail
    head = "\n".join(f"{name}: {value}" for name, value in _facts(message))
    return Notice(
        severity=Severity(message.severity),
        subject=f"[waterclock] {message.severity} {subject}",
        body=f"{head}\n\n{message.body}".rstrip(),
    )


def pause_after(tries: int) -> float | None:
    """Seconds until the next try; None: this was the last."""
    return PAUSES_SECONDS[tries - 1] if tries < MOST_TRIES else None


def _facts(message: Message) -> Iterator[tuple[str, object]]:
    yield "what", message.kind
    if message.chain_id is not None:
        yield "chain", message.chain_id
    if tags := ", ".join(tag for tag in (message.tag, message.subtag) if tag):
        yield "tags", tags
    if message.flow_run_id is not None:
        yield "run", message.flow_run_id
    yield "time", to_iso(message.created_at)
    yield "message", message.id
