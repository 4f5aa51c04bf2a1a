"""The notifier with real endpoints: what arrives, what is tried again, and that nobody holds up anybody else."""

import asyncio
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.services.listening import Webhook, mail_server
from tests.stores.telling import Telling
from waterclock.domain.channel import Channel, seal_context
from waterclock.domain.errors import Unavailable
from waterclock.domain.message import ChannelRules, MessageKind
from waterclock.engine.notifier import AT_ONCE_PER_CHANNEL, POLL_SECONDS, Notifier
from waterclock.notices.apprise_sender import ALLOWED_BY, AppriseSender
from waterclock.notices.base import Sender
from waterclock.services.secretbox import SecretBox
from waterclock.stores import Database, database_from_url
from waterclock.stores.ops.channels import create_channel
from waterclock.stores.ops.deliveries import record_sent, take_deliveries

LIMIT_SECONDS = 0.2
LEASE_SECONDS = 60.0


class Notified(Telling):
    """One notifier that the test ticks, its store, and channels with real addresses."""

    def __init__(self, database: Database, folder: Path) -> None:
        super().__init__(database)
        self.box = SecretBox(folder / "keys")
        self.use(AppriseSender(private=True))

    def use(self, sender: Sender, box: SecretBox | None = None) -> None:
        self.notifier = Notifier(self.database, sender, box or self.box, lease_seconds=LEASE_SECONDS)

    async def leads_to(self, name: str, address: str, **rules: Any) -> Channel:
        return await self.database.write(
            create_channel,
            org_id=1,
            name=name,
            sealed=self.box.seal(address, context=seal_context(1, name)),
            shown="shown",
            rules=ChannelRules(**rules) if rules else ChannelRules(tags=("*",)),
            on=True,
            owner="ann",
        )

    async def settled(self, later: float = 0) -> float:
        """Ticked until all that is due by then was tried; how long it would rest."""
        self.pass_time(later)
        async with asyncio.timeout(20):
            while True:
                rest = await self.notifier.tick()
                if self.notifier.idle and rest:
                    return rest
                while not self.notifier.idle:
                    await asyncio.sleep(0.005)


@pytest.fixture
async def notified(tmp_path: Path) -> AsyncIterator[Notified]:
    database = database_from_url("sqlite://")
    await database.open()
    await database.migrate()
    notified = Notified(database, tmp_path)
    yield notified
    await notified.notifier.close()
    await database.close()


async def test_a_webhook_is_told_all_that_there_is_to_know(notified: Notified) -> None:
    with Webhook() as hook:
        await notified.leads_to("hook", hook.address)
        chain = {"chain_id": 12, "flow_run_id": 345, "tag": "important", "subtag": "sales"}
        number = await notified.tell("물 sync", body="level 2, 'load': FAILED: exit code 3\nno space left", **chain)
        assert await notified.settled() == POLL_SECONDS
    (notice,) = hook.notices
    assert (hook.paths, notice["title"], notice["type"]) == (
        ["/hooks/token-1234"],
        "[waterclock] error 물 sync",
        "failure",
    )
    head, _, reason = notice["message"].partition("\n\n")
    told = dict(line.split(": ", 1) for line in head.splitlines())
    assert told.pop("time").endswith("Z")
    assert told == {
        "what": "chain_failed",
        "chain": "12",
        "tags": "important, sales",
        "run": "345",
        "message": str(number),
    }
    assert reason == "level 2, 'load': FAILED: exit code 3\nno space left"


async def test_mail_reaches_its_reader_as_it_was_meant(notified: Notified) -> None:
    with mail_server() as mailbox:
        await notified.leads_to("mail", mailbox.address)
        await notified.tell("two\nlines", body="<b>물</b> 💧\n.\nend")
        await notified.settled()
    ((to, mail),) = mailbox.mails
    assert (to, mail["subject"]) == (["ops@firm.example"], "[waterclock] error two lines")
    body = mail.get_body(("plain",))
    assert body is not None
    assert body.get_content().replace("\r\n", "\n").endswith("\n\n<b>물</b> 💧\n.\nend\n")


async def test_one_that_fails_twice_gets_its_notice_at_the_third_try(notified: Notified) -> None:
    with Webhook(500, 503, 200) as hook:
        await notified.leads_to("hook", hook.address)
        await notified.tell()
        assert await notified.settled() <= POLL_SECONDS
        assert "error=500" in str((await notified.shown("hook")).last_error)
        await notified.settled(later=11)
        assert len(hook.notices) == 2
        await notified.settled(later=61)
        await notified.settled(later=2_000)
    assert len(hook.notices) == 3
    shown = await notified.shown("hook")
    assert shown.last_sent_at is not None
    assert "error=503" in str(shown.last_error)


async def test_one_that_always_fails_is_reported_without_its_secrets(notified: Notified) -> None:
    with Webhook(500) as bad, Webhook() as good:
        await notified.leads_to("bad", bad.address, tags=("*",), kinds=(MessageKind.FAILED,))
        await notified.leads_to("good", good.address, kinds=(MessageKind.CHANNEL_FAILED,))
        await notified.tell()
        for later in (0, 11, 61, 301, 1_801, 4_000):
            await notified.settled(later)
        assert (len(bad.notices), good.titles) == (5, ["[waterclock] warning channel 'bad'"])
    (report, _) = await notified.messages()
    for words in (report.body, good.notices[0]["message"], str((await notified.shown("bad")).last_error)):
        assert "error=500" in words
        assert not any(secret in words for secret in ("pass-word", "token-1234"))


async def test_a_host_that_is_not_there_is_named_without_the_path(notified: Notified) -> None:
    with Webhook() as hook:
        address = hook.address
    await notified.leads_to("hook", address)
    await notified.tell()
    await notified.settled()
    error = str((await notified.shown("hook")).last_error)
    assert "Connection refused" in error
    assert not any(secret in error for secret in ("pass-word", "token-1234"))


async def test_one_that_hangs_holds_up_neither_the_others_nor_the_loop(notified: Notified) -> None:
    with Webhook() as slow, Webhook() as quick:
        slow.hold()
        for name, hook in (("slow", slow), ("quick", quick)):
            await notified.leads_to(name, hook.address)
        for number in range(5):
            await notified.tell(f"s{number}")
        await notified.notifier.tick()
        await asyncio.to_thread(slow.wait_for, AT_ONCE_PER_CHANNEL)
        while len(quick.notices) < 5:
            await notified.notifier.tick()
            await asyncio.sleep(0.005)
        assert len(slow.notices) == AT_ONCE_PER_CHANNEL
        slow.let_go()
        await notified.settled()
        assert sorted(slow.titles) == sorted(quick.titles) == [f"[waterclock] error s{number}" for number in range(5)]


async def test_one_that_never_answers_has_failed_when_its_time_is_up(notified: Notified) -> None:
    notified.use(AppriseSender(private=True, limit_seconds=LIMIT_SECONDS))
    with Webhook() as slow:
        slow.hold()
        await notified.leads_to("slow", slow.address)
        await notified.tell()
        await notified.settled()
        assert (await notified.shown("slow")).last_error == f"no answer within {LIMIT_SECONDS} s"
        for later in (11, 61, 301):
            await notified.settled(later)
        await asyncio.to_thread(slow.wait_for, 4)
        await notified.settled(1_801)  # as many threads as one address may have still hang
        assert len(slow.notices) == 4
        assert (await notified.shown("slow")).last_error == "earlier notices to it still hang"


async def test_two_notifiers_on_one_store_deliver_once(store_url: str, tmp_path: Path) -> None:
    databases = [database_from_url(store_url) for _ in range(2)]
    for database in databases:
        await database.open()
        await database.migrate()
    one, two = [Notified(database, tmp_path) for database in databases]
    with Webhook() as hook:
        await one.leads_to("hook", hook.address)
        for number in range(10):
            await one.tell(f"s{number}")
        async with asyncio.timeout(60):
            while await one.queued() or not hook.notices:
                await asyncio.gather(one.settled(), two.settled())
    assert sorted(hook.titles) == [f"[waterclock] error s{number}" for number in range(10)]
    for database in databases:
        await database.close()


async def test_what_a_killed_notifier_had_taken_is_sent_after_its_lease(notified: Notified) -> None:
    with Webhook() as hook:
        await notified.leads_to("hook", hook.address)
        await notified.tell()
        await notified.route()
        room = {(1, "hook"): 1}
        assert await notified.database.write(take_deliveries, room=room, lease_seconds=LEASE_SECONDS)
        await notified.settled()
        assert hook.notices == []
        await notified.settled(later=LEASE_SECONDS + 1)
        assert len(hook.notices) == 1


async def test_when_the_store_is_away_a_notice_may_come_twice_and_never_not_at_all(
    notified: Notified, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = notified.database.write

    async def away(operation: Any, *args: Any, **kwargs: Any) -> Any:
        if operation is record_sent:
            raise Unavailable("the database does not answer")
        return await write(operation, *args, **kwargs)

    with Webhook() as hook:
        await notified.leads_to("hook", hook.address)
        await notified.tell()
        with monkeypatch.context() as patched:
            patched.setattr(notified.database, "write", away)
            await notified.settled()
        await notified.settled(later=LEASE_SECONDS + 1)
        assert hook.titles == ["[waterclock] error nightly"] * 2


async def test_a_private_address_is_refused_when_the_connection_is_made(notified: Notified) -> None:
    notified.use(AppriseSender(private=False))
    with Webhook() as hook, mail_server() as mailbox:
        named = hook.address.replace("127.0.0.1", "localhost")
        aside = f"mailto://mail.firm.example:{mailbox.port}/?to=a@firm.example&from=b@firm.example&smtp=127.0.0.1"
        for name, address in (("digits", hook.address), ("named", named), ("aside", aside)):
            await notified.leads_to(name, address)
        await notified.tell()
        await notified.settled()
        assert (hook.notices, mailbox.mails) == ([], [])
    for name in ("digits", "named", "aside"):
        error = str((await notified.shown(name)).last_error)
        assert error.endswith(f"is not a public address; {ALLOWED_BY}"), name


async def test_nobody_is_led_elsewhere(notified: Notified) -> None:
    with Webhook() as other, Webhook(302, location=f"http://127.0.0.1:{other.port}/") as hook:
        await notified.leads_to("hook", hook.address)
        await notified.tell()
        await notified.settled()
        assert (len(hook.notices), other.notices) == (1, [])
    assert "302" in str((await notified.shown("hook")).last_error)


async def test_without_apprise_a_channel_says_what_to_install(
    notified: Notified, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "apprise", None)
    await notified.leads_to("hook", "json://127.0.0.1:1")
    await notified.tell()
    await notified.settled()
    assert "install waterclock[notify]" in str((await notified.shown("hook")).last_error)


async def test_an_address_that_does_not_open_is_a_reason_like_any_other(notified: Notified, tmp_path: Path) -> None:
    await notified.leads_to("hook", "json://127.0.0.1:1")
    await notified.tell()
    notified.use(AppriseSender(private=True), SecretBox(tmp_path / "other-keys"))
    (tmp_path / "other-keys").touch(mode=0o600)
    await notified.settled()
    assert "is empty: restore it from a backup" in str((await notified.shown("hook")).last_error)
