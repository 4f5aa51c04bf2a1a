"""Notices of real chains that fail, to real endpoints; and that nothing waits for one that hangs."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.acceptance.operating import Operator
from tests.acceptance.server import Server, running, until
from tests.services.listening import Webhook, mail_server

SAYS = "print('no space left on 물')\nsys.exit(3)\n"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    with running(tmp_path, channels_private="true", **Operator.settings(tmp_path)) as server:
        yield server


@pytest.fixture
def operator(server: Server, tmp_path: Path) -> Operator:
    return Operator(server, tmp_path / "marks")


def channel(server: Server, name: str, address: str, *options: str) -> None:
    said = server.cli("channel", "add", name, *options, input=f"{address}\n")
    assert said.returncode == 0, said.stderr
    assert "pass-word" not in said.stdout


def test_a_failed_chain_is_told_to_whoever_wants_to_hear_it(server: Server, operator: Operator) -> None:
    operator.folder.mkdir()
    with Webhook() as hook, Webhook() as slow, mail_server() as mailbox:
        slow.hold()
        for name, address, options in (
            ("ops", hook.address, ()),
            ("mail", mailbox.address, ("--tag", "*", "--kind", "chain_failed")),
            ("slow", slow.address, ("--tag", "*")),
        ):
            channel(server, name, address, *options)
        plain = operator.make(operator.step("load", 1, SAYS), tag="daily")
        important = operator.make(operator.step("load", 1, SAYS), tag="important")
        runs = [operator.run_through(chain) for chain in (plain, important)]
        assert [run["status"] for run in runs] == ["Failed", "Failed"]
        until(lambda: hook.notices and len(mailbox.mails) == len(slow.notices) == 2, "nobody was told")

        (notice,) = hook.notices
        assert notice["title"] == f"[waterclock] error {operator.name}"
        told, _, reason = notice["message"].partition("\n\n")
        assert {f"chain: {important['id']}", f"run: {runs[1]['run_id']}", "tags: important"} <= set(told.splitlines())
        assert reason.endswith("no space left on 물")
        assert {mail["subject"] for _, mail in mailbox.mails} == {f"[waterclock] error {operator.name}"}
        slow.let_go()
        until(lambda: _all_have_sent(operator), "what hung was not written down")


def test_what_ran_on_a_muted_node_stays_in_the_list_of_messages(tmp_path: Path) -> None:
    settings = {"channels_private": "true", "node_debug": "true", **Operator.settings(tmp_path)}
    with running(tmp_path, **settings) as server, Webhook() as hook:
        (tmp_path / "marks").mkdir()
        operator = Operator(server, tmp_path / "marks")
        channel(server, "ops", hook.address, "--tag", "*")
        chain = operator.make(operator.step("load", 1, SAYS), tag="important")
        operator.run_through(chain)
        (message,) = operator.messages(chain)
        assert message["kind"] == "chain_failed"
        until(lambda: _routed(server) == {message["id"]: 0}, "nobody decided who is told")
        trial = server.cli("channel", "test", "ops")
        assert (trial.returncode, trial.stdout) == (0, "sent through ops\n")
        assert hook.titles == ["[waterclock] info trial of a channel"]


def _routed(server: Server) -> dict[int, int]:
    """Of each message of which it is decided: to how many channels it goes."""
    with closing(sqlite3.connect(server.data / "waterclock.db", timeout=20)) as connection:
        return dict(
            connection.execute(
                "SELECT m.id, COUNT(d.channel) FROM messages m LEFT JOIN deliveries d ON d.message_id = m.id"
                " WHERE m.routed_at IS NOT NULL GROUP BY m.id"
            )
        )


def _all_have_sent(operator: Operator) -> bool:
    return all(each["last_sent_at"] for each in operator.call("GET", "/api/v1/channels")["items"])
