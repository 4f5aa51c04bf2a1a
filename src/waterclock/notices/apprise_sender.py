"""Notices through apprise: mail, webhooks, Slack and whatever else it speaks, each with a deadline of its own."""

from typing import TYPE_CHECKING, Final

from waterclock.domain.errors import InvalidInput, NotAllowed
from waterclock.domain.message import Severity
from waterclock.domain.notice import Notice
from waterclock.notices.addresses import host_of, secrets_of, service_of, shown
from waterclock.notices.base import NotSent
from waterclock.notices.deadline import Threads
from waterclock.notices.hearing import heard
from waterclock.notices.reachable import private_address_of, public_only

if TYPE_CHECKING:
    from apprise import NotifyBase

LIMIT_SECONDS: Final = 30.0
MOST_THREADS: Final = 4  # to one address
LONGEST_REASON: Final = 500
ALLOWED_BY: Final = "an admin may allow it with the setting channels.private"

_TYPES: Final = {Severity.INFO: "info", Severity.WARNING: "warning", Severity.ERROR: "failure"}


class AppriseSender:
    def __init__(self, *, private: bool, limit_seconds: float = LIMIT_SECONDS) -> None:
        self._private = private
        self._limit_seconds = limit_seconds
        self._threads = Threads(most=MOST_THREADS, seconds=limit_seconds)

    async def check(self, address: str) -> str:
        try:
            return await self._threads.run("", lambda: self._checked(address))
        except TimeoutError:
            raise InvalidInput("looking up its host takes too long: try again", field="url") from None

    async def send(self, address: str, notice: Notice) -> None:
        if self._threads.is_full(address):
            raise NotSent("earlier notices to it still hang")
        try:
            await self._threads.run(address, lambda: self._send(address, notice))
        except TimeoutError:
            raise NotSent(f"no answer within {self._limit_seconds:g} s") from None

    # In a thread

    def _checked(self, address: str) -> str:
        service = service_of(address)
        if not self._private and (host := host_of(service)) and (private := private_address_of(host)):
            where = host if host == private else f"{host} is at {private}, which"
            raise InvalidInput(f"{where} is not a public address; {ALLOWED_BY}", field="url")
        return shown(address, service)

    def _send(self, address: str, notice: Notice) -> None:
        try:
            service = service_of(address)
        except (InvalidInput, NotAllowed) as problem:
            raise NotSent(str(problem)) from None
        with public_only(unless=self._private) as refused:
            said = _notify(service, notice)
        if refused:
            raise NotSent(f"{refused[0]} is not a public address; {ALLOWED_BY}")
        if said is not None:
            raise NotSent(secrets_of(address).text(said or "the service did not take it")[:LONGEST_REASON])


def _notify(service: "NotifyBase", notice: Notice) -> str | None:
    """None when it was taken on, else what apprise says."""
    with heard() as lines:
        try:
            taken = service.notify(
                title=notice.subject,
                body=notice.body,
                notify_type=_TYPES[notice.severity],
                body_format="text",
                overflow="split",  # where a service takes less at once than a run's output has
            )
        except Exception as problem:
            return f"{type(problem).__name__}: {problem}"
    return None if taken else "; ".join(lines)
