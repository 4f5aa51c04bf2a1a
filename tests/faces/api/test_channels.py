"""Channels and messages over the API: addresses are taken and never shown; a trial says what came of it."""

import sqlite3
import sys
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.faces.api.channels import NOWHERE, make_channel
from tests.faces.api.serving import Served, served
from tests.faces.api.test_audit import found
from tests.services.listening import Webhook
from tests.stores.telling import Telling
from waterclock.domain.message import MessageKind
from waterclock.notices.addresses import SCHEMES

SECRETS = ("pass-word", "token-1234")
SLACK = "slack://T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ"


@pytest.fixture
async def open_server(tmp_path: Path) -> AsyncIterator[Served]:
    """One whose admin allows addresses of this host."""
    folder = tmp_path / "open"
    folder.mkdir()
    async with served(folder, private=True) as running:
        yield running


async def test_a_channel_is_shown_without_what_opens_it(open_server: Served) -> None:
    api = open_server.client
    with Webhook() as hook:
        body = {"name": "물/ops", "url": hook.address, "tags": ["daily"], "kinds": ["late"], "severities": ["warning"]}
        made = await api.post("/channels", json=body)
    assert made.status_code == 201, made.text
    shown = made.json()
    assert shown["url"] == f"json://ann:****@127.0.0.1:{hook.port}/***"
    assert (shown["name"], shown["tags"], shown["kinds"], shown["severities"]) == (
        "물/ops",
        ["daily"],
        ["late"],
        ["warning"],
    )
    assert (shown["on"], shown["owner"], shown["last_sent_at"], shown["last_error"]) == (True, "admin", None, None)
    assert (await api.get("/channels/%EB%AC%BC%2Fops")).json() == shown
    assert (await api.get("/channels")).json()["items"] == [shown]
    assert not any(secret in made.text for secret in SECRETS)
    assert not any(secret.encode() in file for file in _files(open_server) for secret in SECRETS)


async def test_a_channel_is_changed_field_by_field_and_deleted(open_server: Served) -> None:
    api = open_server.client
    await api.post("/channels", json={"name": "ops", "url": NOWHERE, "tags": ["x"], "kinds": ["late"]})
    off = (await api.put("/channels/ops", json={"on": False, "kinds": []})).json()
    assert (off["on"], off["kinds"], off["tags"], off["url"]) == (False, [], ["x"], NOWHERE)
    with Webhook() as hook:
        assert (await api.put("/channels/ops", json={"url": hook.address})).status_code == 200
        assert (await api.post("/channels/ops/test")).json()["sent"] is True
        assert len(hook.notices) == 1
    assert (await api.delete("/channels/ops")).json()["name"] == "ops"
    for method in ("GET", "DELETE", "PUT"):
        gone = await api.request(method, "/channels/ops", json={} if method == "PUT" else None)
        assert (gone.status_code, gone.json()["error"]["message"]) == (404, "channel 'ops' not found")


async def test_a_name_is_given_once(open_server: Served) -> None:
    body = {"name": "ops", "url": NOWHERE}
    codes = [(await open_server.client.post("/channels", json=body)).status_code for _ in range(2)]
    assert codes == [201, 409]


async def test_a_trial_says_what_came_of_it_and_the_channel_remembers(open_server: Served) -> None:
    api = open_server.client
    with Webhook(500, 200) as hook:
        await api.post("/channels", json={"name": "ops", "url": hook.address, "on": False})
        failed = await api.post("/channels/ops/test")
        assert (failed.status_code, failed.json()["sent"]) == (200, False)
        assert "error=500" in failed.json()["error"]
        assert (await api.post("/channels/ops/test")).json() == {"name": "ops", "sent": True, "error": None}
    shown = (await api.get("/channels/ops")).json()
    assert shown["last_failed_at"] < shown["last_sent_at"]
    assert shown["last_error"] == failed.json()["error"]
    assert hook.titles == ["[waterclock] info trial of a channel"] * 2
    assert "asked for by 'admin'" in hook.notices[0]["message"]


async def test_an_address_is_sealed_again_with_a_new_key(open_server: Served) -> None:
    api = open_server.client
    with Webhook() as hook:
        await api.post("/channels", json={"name": "ops", "url": hook.address})
        done = (await api.post("/secret-key")).json()
        assert (done["resealed"], done["unreadable"]) == (2, 0)  # the admin's access key, and this
        assert _sealed(open_server).startswith(f"v1.{done['key']}.")
        assert (await api.post("/channels/ops/test")).json()["sent"] is True


BAD_ADDRESSES: tuple[tuple[Any, str], ...] = (
    ("", "must be an address such as"),
    ("nothing", "must be an address such as"),
    ("file:///etc/passwd", "the scheme 'file' is not served; known are dingtalk, discord"),
    ("exec://ls", "the scheme 'exec' is not served"),
    ("syslog://localhost", "the scheme 'syslog' is not served"),
    ("http://host/hook", "the scheme 'http' is not served (a webhook is json://, xml:// or form://)"),
    ("https://host.example/hook", "a webhook of your own is jsons://host/path"),
    ("json://", "names no host"),
    ("json:///path", "names no host"),
    ("json://host.example:99999/", "the port must be 1 to 65535"),
    ("json://a b/", "cannot be read as an address of json"),
    ("json://[::1", "cannot be read as an address of json"),
    ("slack://pass-word/", "cannot be read: An invalid Slack"),
    ("mailto://", "names no host"),
    ("mailto://?to=a@b.example", "names no host"),
    ("mailto://ann@host.example?to=nobody", "names nobody who could be told"),
    ("json://host/\nX: y", "cannot hold line ends or control characters"),
    ("json://host/" + "x" * 2_000, "must have at most 2000 characters"),
    (f"{SLACK}?template=/etc/passwd", "the option 'template' would read files of this host"),
    (f"{SLACK}?%54emplate=/etc/passwd", "the option 'template' would read files of this host"),
    ("mailto://a:b@host.example?pgppub=/etc/passwd", "the option 'pgppub' would read files of this host"),
    ("json://host/?retry=99&wait=60", "the option 'retry' is not for you to set"),
    (7, "must be text"),
    ("json://127.0.0.1:9", "127.0.0.1 is not a public address; an admin may allow it with the setting"),
    ("json://localhost:9", "localhost is at "),
    ("json://2130706433", "2130706433 is at 127.0.0.1, which is not a public address"),
    ("json://[::1]:9", "::1 is not a public address"),
    ("json://[::ffff:127.0.0.1]", "is not a public address"),
    ("xml://169.254.169.254/latest", "169.254.169.254 is not a public address"),
    ("form://10.1.2.3", "10.1.2.3 is not a public address"),
    ("mmosts://192.168.1.1/3ccdd113474722377935511fc85d3dd4", "192.168.1.1 is not a public address"),
    ("json://224.0.0.1", "224.0.0.1 is not a public address"),
    ("mailto://a:b@mail.firm.example?smtp=10.0.0.1&from=a@b.example", "10.0.0.1 is not a public address"),
)


async def test_a_bad_address_is_refused_with_the_reason_and_never_repeated(api: httpx.AsyncClient) -> None:
    for address, reason in BAD_ADDRESSES:
        refused = await api.post("/channels", json={"name": "ops", "url": address})
        error = refused.json()["error"]
        assert (refused.status_code, error["type"], error["field"]) == (400, "invalid_input", "url"), address
        assert reason in error["message"], (address, error["message"])
        assert not any(secret in refused.text for secret in SECRETS)
    assert (await api.get("/channels")).json()["items"] == []


async def test_a_change_to_a_bad_address_is_refused_too(server: Served) -> None:
    await make_channel(server, "ops", "x")
    refused = await server.client.put("/channels/ops", json={"url": "json://127.0.0.1:10"})
    assert refused.status_code == 400
    tried = (await server.client.post("/channels/ops/test")).json()
    assert tried["sent"] is False
    assert tried["error"].startswith("127.0.0.1 is not a public address")


BAD_RULES: tuple[tuple[dict[str, Any], str], ...] = (
    ({"kinds": ["chain_failed", "late!"]}, "kinds[1]"),
    ({"severities": ["grave"]}, "severities[0]"),
    ({"tags": ["x" * 46]}, "tags[0]"),
    ({"tags": "important"}, "tags"),
    ({"on": "yes"}, "on"),
    ({"colour": "blue"}, "colour"),
    ({"name": "a\tb"}, "name"),
)


async def test_bad_rules_are_refused_by_name(api: httpx.AsyncClient) -> None:
    for rules, field in BAD_RULES:
        refused = await api.post("/channels", json={"name": "ops", "url": SLACK, **rules})
        assert (refused.status_code, refused.json()["error"]["field"]) == (400, field), rules
    missing = await api.post("/channels", json={"name": "ops"})
    assert missing.json()["error"]["message"] == "url: is required"


async def test_services_of_others_are_taken_by_their_own_addresses(api: httpx.AsyncClient) -> None:
    pasted = "https://hooks.slack.com/services/T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ"
    for number, address in enumerate((SLACK, pasted, "mailtos://ann:pass-word@203.example?to=ops@firm.example")):
        made = await api.post("/channels", json={"name": f"c{number}", "url": address})
        assert made.status_code == 201, made.text
        assert not any(secret in made.text for secret in ("A1BRTD4JD", "TIiajkdnlazkcOXrIdevi7FQ", "pass-word"))
    listed = (await api.get("/channels?size=2")).json()
    assert [channel["name"] for channel in listed["items"]] == ["c0", "c1"]
    rest = (await api.get("/channels", params={"token": listed["next_token"]})).json()
    assert [channel["url"] for channel in rest["items"]] == ["mailtos://ann:****@203.example/ops%40firm.example"]


def test_every_scheme_is_one_that_apprise_knows() -> None:
    import apprise

    known = {scheme for entry in apprise.Apprise().details()["schemas"] for scheme in _schemes(entry)}
    assert known >= SCHEMES


async def test_without_apprise_a_channel_says_what_to_install(
    api: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "apprise", None)
    refused = await api.post("/channels", json={"name": "ops", "url": SLACK})
    assert (refused.status_code, refused.json()["error"]["type"]) == (409, "not_allowed")
    assert "install waterclock[notify]" in refused.json()["error"]["message"]


async def test_the_audit_names_the_channel_and_not_its_address(open_server: Served) -> None:
    await open_server.client.post("/channels", json={"name": "ops", "url": "json://ann:pass-word@127.0.0.1:9"})
    (entry,) = await found(open_server.client, resource="ops")
    assert (entry["action"], "pass-word" in str(entry)) == ("POST /api/v1/channels", False)


# Messages


async def test_messages_are_found_and_marked_read(server: Served, api: httpx.AsyncClient) -> None:
    telling = Telling(server.database)
    chain = {"chain_id": 7, "flow_run_id": 70, "run_id": 700, "tag": "important", "subtag": "sales"}
    failed = await telling.tell("failed", **chain)
    late = await telling.tell("late", kind=MessageKind.LATE)
    (newest, oldest) = (await api.get("/messages")).json()["items"]
    assert newest["id"] == late
    assert oldest.pop("created_at").endswith("Z")
    assert oldest == {
        "id": failed,
        "kind": "chain_failed",
        "severity": "error",
        "chain_id": 7,
        "run_id": 70,
        "step_run": 700,
        "tag": "important",
        "subtag": "sales",
        "subject": "failed",
        "body": "물 💧",
        "read_at": None,
    }
    for query, ids in (("kind=late", [late]), ("tag=sales", [failed]), ("chain=7", [failed]), ("chain=8", [])):
        assert [each["id"] for each in (await api.get(f"/messages?{query}")).json()["items"]] == ids, query
    assert (await api.post("/messages/read", json={"ids": [failed, 999]})).json() == {"read": 1}
    unread = (await api.get("/messages?unread=true")).json()["items"]
    assert [each["id"] for each in unread] == [late]
    assert (await api.post("/messages/read", json={"all": True})).json() == {"read": 1}
    assert (await api.get("/messages?unread=true")).json()["items"] == []
    assert all(each["read_at"] for each in (await api.get("/messages")).json()["items"])


@pytest.mark.parametrize("body", [{}, {"all": False}, {"all": True, "ids": [1]}, {"ids": ["1"]}, {"ids": [0]}])
async def test_what_was_read_must_be_said(api: httpx.AsyncClient, body: dict[str, Any]) -> None:
    assert (await api.post("/messages/read", json=body)).status_code == 400


async def test_a_filter_that_nobody_knows_is_refused(api: httpx.AsyncClient) -> None:
    for query in ("kind=nothing", "unread=maybe", "chain=x", "colour=blue"):
        refused = await api.get(f"/messages?{query}")
        assert (refused.status_code, refused.json()["error"]["field"]) == (400, query.partition("=")[0])


def _schemes(entry: dict[str, Any]) -> list[str]:
    return [*(entry["protocols"] or ()), *(entry["secure_protocols"] or ())]


def _files(server: Served) -> list[bytes]:
    return [path.read_bytes() for path in server.folder.rglob("*") if path.is_file()]


def _sealed(server: Served) -> str:
    with closing(sqlite3.connect(server.folder / "waterclock.db")) as connection:
        return str(connection.execute("SELECT sealed FROM channels").fetchone()[0])
