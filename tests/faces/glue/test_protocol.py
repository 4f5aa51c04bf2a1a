"""AWS JSON 1.1 in and out, hostile bodies included."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta, timezone
from typing import Any
from uuid import UUID

import orjson
import pytest
from botocore.awsrequest import HeadersDict
from botocore.loaders import Loader
from botocore.model import ServiceModel
from botocore.parsers import create_parser
from hypothesis import given
from hypothesis import strategies as st

from waterclock.domain.errors import InvalidInput, NotFound
from waterclock.faces.glue.errors import BodyTooLarge, SerializationFailed, UnknownOperation, refusal
from waterclock.faces.glue.model import ACTIONS, validate
from waterclock.faces.glue.protocol import (
    DEPTH_LIMIT,
    Reply,
    epoch_seconds,
    failure,
    new_request_id,
    parse_body,
    parse_target,
    read_body,
    success,
)


class Chunks:
    """A body that arrives in pieces, and how many of them were taken."""

    def __init__(self, *pieces: bytes) -> None:
        self.pieces, self.taken = pieces, 0

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self.pieces:
            self.taken += 1
            yield piece


def test_a_target_names_its_action() -> None:
    assert parse_target("AWSGlue.GetJob", ACTIONS) == "GetJob"


@pytest.mark.parametrize(
    "target",
    [
        None,
        "",
        ".",
        "AWSGlue",
        "AWSGlue.",
        "AWSGlue.Nope",
        "AWSGlue.getjob",
        "GetJob",
        "awsglue.GetJob",
        " AWSGlue.GetJob",
        "AWSGlue.GetJob.GetJob",
        "Logs_20140328.GetLogEvents",
        "AWSGlue.GetDatabase",
        "AWSGlue.\x00",
        "x" * 100000,
        "�",
    ],
)
def test_any_other_target_is_an_unknown_operation(target: str | None) -> None:
    with pytest.raises(UnknownOperation) as caught:
        parse_target(target, ACTIONS)
    reply = failure(refusal(caught.value), request_id="r")
    assert reply.status == 400
    assert orjson.loads(reply.body)["__type"] == "UnknownOperationException"
    assert len(reply.body) < 500


async def test_a_body_is_read_whole() -> None:
    assert await read_body(Chunks(b"{", b"", b"}"), declared="2") == b"{}"
    assert await read_body(Chunks(), declared=None) == b""


@pytest.mark.parametrize("declared", ["11", "104857600", "9" * 5000])
async def test_a_body_declared_too_large_is_refused_before_a_byte_is_read(declared: str) -> None:
    chunks = Chunks(b"x" * 11)
    with pytest.raises(BodyTooLarge):
        await read_body(chunks, declared=declared, limit=10)
    assert chunks.taken == 0


@pytest.mark.parametrize("declared", [None, "3", "-1", "ten"])
async def test_a_body_that_grows_past_the_limit_is_refused_there(declared: str | None) -> None:
    chunks = Chunks(b"12345", b"67890", b"1", b"never read")
    with pytest.raises(BodyTooLarge):
        await read_body(chunks, declared=declared, limit=10)
    assert chunks.taken == 3


async def test_a_body_at_the_limit_is_taken() -> None:
    assert await read_body(Chunks(b"1234567890"), declared="10", limit=10) == b"1234567890"


def test_a_body_too_large_is_413_and_closes_the_connection() -> None:
    reply = failure(refusal(BodyTooLarge(10)), request_id="r")
    assert (reply.status, reply.headers["connection"]) == (413, "close")
    assert orjson.loads(reply.body)["__type"] == "RequestEntityTooLargeException"


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b" ",
        b"null",
        b"[]",
        b'"x"',
        b"1",
        b"{",
        b"{'a': 1}",
        b"\xff\xfe{}",
        b"\xef\xbb\xbf{}",
        b'{"a": NaN}',
        b'{"a": 1e999}',
        b'{"a": "\\ud800"}',
        b'{"a": "\xc3"}',
        b'{"a": "\n"}',
        b"{}{}",
        b"not json at all",
        b"[" * 100000,
        b'{"a":' * 100000,
    ],
)
def test_a_body_that_is_not_a_json_object_is_a_serialization_error(raw: bytes) -> None:
    with pytest.raises(SerializationFailed) as caught:
        parse_body(raw)
    reply = failure(refusal(caught.value), request_id="r")
    assert reply.status == 400
    assert orjson.loads(reply.body)["__type"] == "SerializationException"


def test_nesting_is_bounded_and_what_is_within_the_bound_passes() -> None:
    def nested(depth: int) -> bytes:
        return b'{"a":' * (depth - 1) + b"{}" + b"}" * (depth - 1)

    assert parse_body(nested(DEPTH_LIMIT))
    with pytest.raises(SerializationFailed, match="nested deeper"):
        parse_body(nested(DEPTH_LIMIT + 1))


def test_a_wide_document_is_not_mistaken_for_a_deep_one() -> None:
    body = {"Actions": [{"JobName": "a"}] * 1000}
    assert parse_body(orjson.dumps(body)) == body


def test_the_deepest_body_let_through_is_validated_without_overflow() -> None:
    mapping: dict[str, object] = {}
    for _ in range((DEPTH_LIMIT - 6) // 2):
        mapping = {"Children": [mapping]}
    node = {"ApplyMapping": {"Name": "n", "Inputs": ["i"], "Mapping": [mapping]}}
    body = {"Name": "a", "Role": "r", "Command": {}, "CodeGenConfigurationNodes": {"n": node}}
    assert validate("CreateJob", parse_body(orjson.dumps(body))) == body


@given(st.binary(max_size=200))
def test_no_bytes_at_all_bring_the_parser_down(raw: bytes) -> None:
    try:
        body = parse_body(raw)
    except SerializationFailed:
        return
    assert isinstance(body, dict)


members = st.sampled_from(["Name", "JobName", "Role", "Command", "Actions", "Tags", "Type", "MaxResults", "JobUpdate"])
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats(-1e300, 1e300) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(members, inner, max_size=2),
    max_leaves=5,
)


@given(st.sampled_from(ACTIONS), st.dictionaries(members, json_values, max_size=5))
def test_no_json_at_all_brings_the_validation_down(action: str, body: dict[str, object]) -> None:
    try:
        validate(action, body)
    except InvalidInput as error:
        told = orjson.loads(failure(refusal(error), request_id="r").body)
    else:
        return
    assert told["__type"] == "InvalidInputException"


def test_a_result_is_json_with_times_as_epoch_seconds() -> None:
    moment = datetime(2026, 11, 15, 12, 0, 0, 123456, tzinfo=UTC)
    reply = success({"JobRun": {"StartedOn": moment, "Id": "jr_1"}}, request_id="r-1")
    assert reply.status == 200
    assert reply.headers == {"content-type": "application/x-amz-json-1.1", "x-amzn-RequestId": "r-1"}
    assert reply.body == b'{"JobRun":{"StartedOn":1794744000.123,"Id":"jr_1"}}'


def test_epoch_seconds_follow_the_zone_and_refuse_a_moment_without_one() -> None:
    assert epoch_seconds(datetime(1970, 1, 1, 9, tzinfo=timezone(timedelta(hours=9)))) == 0.0
    with pytest.raises(ValueError, match="zone"):
        epoch_seconds(datetime(1970, 1, 1))  # noqa: DTZ001


def read_by_botocore(reply: Reply, shape: Any) -> Any:
    response = {"status_code": reply.status, "headers": HeadersDict(reply.headers), "body": reply.body}
    return create_parser("json").parse(response, shape)


def test_botocore_reads_our_results_and_our_errors() -> None:
    model = ServiceModel(Loader().load_service_model("glue", "service-2")).operation_model("GetJobRun")
    moment = datetime(2026, 11, 15, 12, tzinfo=UTC)
    good = read_by_botocore(success({"JobRun": {"StartedOn": moment}}, request_id="r-1"), model.output_shape)
    bad = read_by_botocore(failure(refusal(NotFound("job", "x")), request_id="r-2"), model.output_shape)
    assert good["JobRun"]["StartedOn"] == moment
    assert good["ResponseMetadata"]["RequestId"] == "r-1"
    assert bad["Error"] == {"Code": "EntityNotFoundException", "Message": "Job x not found."}


def test_an_error_that_quotes_half_a_character_can_still_be_told() -> None:
    reply = failure(refusal(InvalidInput("bad \ud800")), request_id="r")
    assert orjson.loads(reply.body)["Message"] == "bad ?"


def test_request_ids_are_uuids_and_never_the_same() -> None:
    assert UUID(new_request_id()) != UUID(new_request_id())
