"""What is read of a sync's task before its program runs."""

from typing import Any

import pytest

from waterclock.domain.errors import InvalidInput
from waterclock.domain.lake_secrets import ARGUMENT, config_with, more_secrets, secrets_in
from waterclock.domain.lake_sync import SyncMode
from waterclock.domain.sync_task import MODE_ARGUMENT, source_ids, sync_mode

INCREMENTAL = {"sync_mode": "IncrementalSync"}


@pytest.mark.parametrize(
    ("task", "arguments", "mode"),
    [
        ({}, {}, SyncMode.FULL),
        (INCREMENTAL, {}, SyncMode.INCREMENTAL),
        (INCREMENTAL, {MODE_ARGUMENT: "FullSync"}, SyncMode.FULL),
    ],
)
def test_the_mode_of_a_run_goes_before_that_of_its_job(
    task: dict[str, Any], arguments: dict[str, str], mode: SyncMode
) -> None:
    assert sync_mode(task, arguments) is mode


def test_a_mode_that_is_none_is_refused_with_those_that_are() -> None:
    with pytest.raises(InvalidInput, match="FullSync or IncrementalSync"):
        sync_mode({}, {MODE_ARGUMENT: "Sideways"})


@pytest.mark.parametrize(
    ("task", "numbers"),
    [
        ({}, set()),
        ({"source_id": 1, "source": "shop"}, {1}),
        ({"source_id": "1"}, set()),
        ({"source_id": True}, set()),
        ({"source_id": 1, "destinations": ["Hadoop", {"config": {"source_id": 2}}, {"config": None}]}, {1, 2}),
        (
            {"query_info": {"outputs": [{"config": {"source_id": 3}}]}, "outputs": [{"config": {"source_id": 4}}]},
            {3, 4},
        ),
        ({"destinations": "nothing", "query_info": 7}, set()),
    ],
)
def test_sources_are_found_by_their_numbers(task: dict[str, Any], numbers: set[int]) -> None:
    assert source_ids(task) == numbers


def test_the_secrets_of_a_source_are_found_and_replaced_wherever_they_stand() -> None:
    config = {"auth": {"token": "{{secret:a}}"}, "headers": [{"value": "Bearer {{secret:b}}"}], "credentials": "c"}
    assert secrets_in(config) == {"a", "b"}
    found = config_with(config, {"a": "1", "b": "2"})
    assert found == {"auth": {"token": "1"}, "headers": [{"value": "Bearer 2"}], "credentials": "c"}


def test_arguments_refer_to_what_they_did_and_to_more() -> None:
    one = more_secrets({"--x": "1"}, {"b"})
    assert one == {"--x": "1", ARGUMENT: "{{secret:b}}"}
    assert more_secrets(one, {"a"})[ARGUMENT] == "{{secret:a}} {{secret:b}}"
    assert more_secrets(one, {"b"}) == one
    assert more_secrets({}, ()) == {}
