"""Messages over HTTP: found by what they are about, read once."""

from typing import Any

import httpx

from tests.faces.chains.hand import ChainHand, made, shown, started
from waterclock.domain.gate import Verdict
from waterclock.domain.run import RunState


async def fail(chains: httpx.AsyncClient, hand: ChainHand, chain_id: int) -> int:
    run_id = await started(chains, chain_id)
    await hand.probe(Verdict.PASSED)
    eu, us = (await hand.begin()).values()
    await hand.end(us)
    await hand.end(eu, RunState.FAILED, exit_code=1, message="exit code 1", output="no disk\n")
    return run_id


async def listed(chains: httpx.AsyncClient, **query: Any) -> Any:
    return (await chains.get("/chains/messages", params=query)).json()["items"]


async def test_a_failure_is_told_with_its_chain_its_run_and_its_output(
    chains: httpx.AsyncClient, hand: ChainHand
) -> None:
    await made(chains, tag="important", subtag="eu")
    run_id = await fail(chains, hand, 1)
    (message,) = await listed(chains)
    assert message.keys() == {
        *("id", "kind", "severity", "chain_id", "run_id", "step_run", "tag", "subtag", "subject", "body"),
        *("created_at", "read_at"),
    }
    assert (message["kind"], message["severity"], message["subject"]) == ("chain_failed", "error", "orders")
    assert (message["chain_id"], message["run_id"], message["read_at"]) == (1, run_id, None)
    assert (message["tag"], message["subtag"]) == ("important", "eu")
    assert isinstance(message["step_run"], int)
    assert "no disk" in message["body"]
    assert (await shown(chains, run_id))["status"] == "Failed"


async def test_messages_are_found_by_what_they_are_about_and_read_once(
    chains: httpx.AsyncClient, hand: ChainHand
) -> None:
    for tag in ("a", "b", "a"):
        await fail(chains, hand, (await made(chains, tag=tag))["id"])
    third, second, first = (each["id"] for each in await listed(chains))
    page = (await chains.get("/chains/messages", params={"size": 2})).json()
    rest = (await chains.get("/chains/messages", params={"size": 2, "token": page["next_token"]})).json()
    assert [each["id"] for each in page["items"] + rest["items"]] == [third, second, first]
    for query, found in (
        ({"tag": "a"}, [third, first]),
        ({"chain": 2}, [second]),
        ({"kind": "chain_failed", "tag": "b"}, [second]),
        ({"kind": "late"}, []),
    ):
        assert [each["id"] for each in await listed(chains, **query)] == found, query
    marked = await chains.post("/chains/messages/read", json={"ids": [first, 10**9]})
    assert (marked.status_code, marked.json()) == (200, {"read": 1})
    assert [each["id"] for each in await listed(chains, unread="true")] == [third, second]
    assert (await chains.post("/chains/messages/read", json={"all": True})).json() == {"read": 2}
    assert (await chains.post("/chains/messages/read", json={"all": True})).json() == {"read": 0}
    assert all(each["read_at"] for each in await listed(chains))


async def test_what_is_wrong_is_named(chains: httpx.AsyncClient) -> None:
    wrong: list[tuple[dict[str, Any], str]] = [
        ({}, "ids"),
        ({"all": False}, "ids"),
        ({"ids": [1], "all": True}, "ids"),
        ({"ids": ["1"]}, "ids[0]"),
        ({"id": 1}, "id"),
    ]
    for sent, field in wrong:
        answer = await chains.post("/chains/messages/read", json=sent)
        assert (answer.status_code, answer.json()["error"]["field"]) == (400, field), sent
    for query in ({"kind": "x"}, {"chain": "x"}, {"unread": "maybe"}, {"sort": "id"}):
        answer = await chains.get("/chains/messages", params=query)
        assert (answer.status_code, [answer.json()["error"]["field"]]) == (400, list(query))
