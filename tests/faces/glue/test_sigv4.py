"""Signatures made by botocore itself, whole and damaged in every part."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote, urlsplit

import boto3
import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest, AWSResponse
from botocore.credentials import Credentials
from hypothesis import given, settings
from hypothesis import strategies as st

from waterclock.domain.errors import Unauthenticated
from waterclock.faces import sigv4
from waterclock.faces.sigv4 import SignatureRefused, SignedRequest, check, parse_authorization, verify

ACCESS_KEY, SECRET = "AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
SERVICES = frozenset({"glue"})
TARGET = {"X-Amz-Target": "AWSGlue.GetJob", "Content-Type": "application/x-amz-json-1.1"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A request signed by botocore, as a server sees it, and the moment it was signed."""

    request: SignedRequest
    signed_at: datetime


def signed(
    *,
    url: str = "http://127.0.0.1:8470/",
    body: bytes = b'{"JobName": "a"}',
    headers: dict[str, str] | None = None,
    params: dict[str, str] | None = None,
    service: str = "glue",
    secret: str = SECRET,
    token: str | None = None,
) -> Call:
    given = TARGET if headers is None else headers
    request = AWSRequest(method="POST", url=url, data=body, headers=given, params=params or {})
    SigV4Auth(Credentials(ACCESS_KEY, secret, token), service, "eu-central-1").add_auth(request)
    return received(request.prepare())


def received(prepared: Any) -> Call:
    parts = urlsplit(prepared.url)
    headers = [(b"host", parts.netloc.encode())]
    headers += [(_bytes(name).lower(), _bytes(value)) for name, value in prepared.headers.items()]
    stamp = dict(headers)[b"x-amz-date"].decode()
    return Call(
        request=SignedRequest(
            method=prepared.method,
            raw_path=parts.path.encode(),
            raw_query=parts.query.encode(),
            headers=tuple(headers),
            body=_bytes(prepared.body or b""),
        ),
        signed_at=datetime.strptime(stamp, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC),
    )


def _bytes(value: str | bytes) -> bytes:
    return value if isinstance(value, bytes) else value.encode("latin-1")


def judge(call: Call, *, secret: str | None = SECRET, now: datetime | None = None) -> str:
    credential = parse_authorization(call.request.headers)
    return check(call.request, credential, secret, now=now or call.signed_at, services=SERVICES)


def refused(call: Call, *, secret: str | None = SECRET, now: datetime | None = None) -> SignatureRefused:
    with pytest.raises(SignatureRefused) as caught:
        judge(call, secret=secret, now=now)
    return caught.value


def altered(call: Call, **changes: Any) -> Call:
    return replace(call, request=replace(call.request, **changes))


def with_header(call: Call, name: str, change: Callable[[bytes], bytes]) -> Call:
    headers = [(key, change(value) if key == name.encode() else value) for key, value in call.request.headers]
    return altered(call, headers=tuple(headers))


def plus_header(call: Call, name: str, value: str) -> Call:
    return altered(call, headers=(*call.request.headers, (name.encode(), value.encode())))


def less_header(call: Call, name: str) -> Call:
    return altered(call, headers=tuple(pair for pair in call.request.headers if pair[0] != name.encode()))


def in_authorization(call: Call, old: str, new: str) -> Call:
    return with_header(call, "authorization", lambda value: value.replace(old.encode(), new.encode(), 1))


def test_a_request_that_botocore_signed_is_its_signers() -> None:
    assert judge(signed()) == ACCESS_KEY


def test_a_whole_boto3_call_is_accepted_as_it_goes_over_the_wire() -> None:
    sent: list[Call] = []

    def take(request: Any, **_: Any) -> AWSResponse:
        sent.append(received(request))
        return AWSResponse(request.url, 200, {"content-type": "application/x-amz-json-1.1"}, Raw())

    client = boto3.client(
        "glue",
        region_name="us-east-1",
        endpoint_url="http://localhost:8470",
        aws_access_key_id=ACCESS_KEY,
        aws_secret_access_key=SECRET,
    )
    client.meta.events.register("before-send.glue.*", take)
    client.start_job_run(JobName="nightly 🚀", Arguments={"--day": "heute"})
    assert judge(sent[0]) == ACCESS_KEY


class Raw:
    """The body of an answer, as botocore streams it."""

    def stream(self, *_: Any, **__: Any) -> list[bytes]:
        return [b"{}"]


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/",
        "/glue",
        "/glue/",
        "//glue",
        "/a/./b",
        "/a/../b",
        "/a/b/..",
        "/../a",
        "/a%20b",
        "/a%2Fb",
        "/~a-b_c.d",
        "/작업",
        "/a+b",
        "/a:b@c",
        "/a=b&c",
        "/%F0%9F%9A%80",
        "/a//b///c",
        "/.",
        "/..",
        "/a/.",
        "/*'()!",
    ],
)
def test_odd_paths_are_read_as_botocore_signs_them(path: str) -> None:
    assert judge(signed(url=f"http://h:1{quote(path, safe='/%~+:@=&*()!')}")) == ACCESS_KEY


@pytest.mark.parametrize(
    "query", ["a=1", "b=2&a=1", "a=2&a=1", "a", "a=&b", "a=b%3Dc", "&a", "a%20b=c%2Fd", "A=1&a=1&_=2", "x=%EC%9E%91"]
)
def test_odd_queries_are_read_as_botocore_signs_them(query: str) -> None:
    assert judge(signed(url=f"http://h/?{query}")) == ACCESS_KEY


@pytest.mark.parametrize("params", [{"a b": "c/d", "é": "🚀", "": "x", "z": "+&="}, {"a-b_c.d~e": "*'()!"}, {"a": "%"}])
def test_queries_that_botocore_encodes_are_accepted(params: dict[str, str]) -> None:
    assert judge(signed(params=params)) == ACCESS_KEY


@pytest.mark.parametrize("value", ["a", "  a   b  ", "a\tb", 'with "two  blanks"', "", "é", "x" * 5000, "a,b", "a, b"])
def test_header_values_are_trimmed_as_botocore_trims_them(value: str) -> None:
    assert judge(signed(headers={**TARGET, "X-Amz-Meta": value})) == ACCESS_KEY


def test_a_header_sent_twice_is_signed_as_one_list() -> None:
    call = signed(headers={**TARGET, "X-Amz-Meta": "a,b"})
    twice = plus_header(plus_header(less_header(call, "x-amz-meta"), "x-amz-meta", "a"), "x-amz-meta", " b ")
    assert judge(twice) == ACCESS_KEY


def test_utf8_header_bytes_are_accepted_as_signed() -> None:
    call = signed(headers={**TARGET, "X-Amz-Meta": "é"})
    assert judge(with_header(call, "x-amz-meta", lambda _: "é".encode())) == ACCESS_KEY


def test_the_case_of_header_names_on_the_wire_does_not_matter() -> None:
    call = signed()
    shouted = altered(call, headers=tuple((name.upper(), value) for name, value in call.request.headers))
    assert judge(shouted) == ACCESS_KEY


def test_an_unsigned_extra_header_does_no_harm() -> None:
    assert judge(plus_header(signed(), "user-agent", "proxy")) == ACCESS_KEY


def test_blanks_between_the_parts_of_the_authorization_may_be_missing() -> None:
    call = signed()
    assert judge(with_header(call, "authorization", lambda value: value.replace(b", ", b","))) == ACCESS_KEY


@pytest.mark.parametrize("body", [b"", b"\x00\xff", "🚀".encode(), b"x" * 1_000_000])
def test_any_body_can_be_signed(body: bytes) -> None:
    assert judge(signed(body=body)) == ACCESS_KEY


def test_an_unknown_key_and_a_wrong_signature_are_told_the_same() -> None:
    unknown, wrong = refused(signed(), secret=None), refused(signed(secret="other"))
    assert (unknown.code, str(unknown)) == (wrong.code, str(wrong))
    assert unknown.code == "InvalidSignatureException"
    assert isinstance(unknown, Unauthenticated)


def test_an_unknown_key_is_refused_even_by_the_secret_it_is_compared_with() -> None:
    assert refused(signed(secret=sigv4._NO_SECRET), secret=None).code == "InvalidSignatureException"


def test_an_unknown_key_is_told_nothing_more_when_something_else_is_wrong_too() -> None:
    late = signed().signed_at + timedelta(hours=1)
    assert str(refused(signed(), secret=None, now=late))[:17] == str(refused(signed(), now=late))[:17]


async def test_verify_asks_for_the_secret_of_the_key_named() -> None:
    asked: list[str] = []

    async def secret_for(access_key: str) -> str | None:
        asked.append(access_key)
        return SECRET

    call = signed()
    assert await verify(call.request, secret_for, now=call.signed_at, services=SERVICES) == ACCESS_KEY
    assert asked == [ACCESS_KEY]


@pytest.mark.parametrize("seconds", [-300, -1, 0, 1, 300])
def test_five_minutes_either_way_are_fresh(seconds: int) -> None:
    call = signed()
    assert judge(call, now=call.signed_at + timedelta(seconds=seconds)) == ACCESS_KEY


@pytest.mark.parametrize(("seconds", "words"), [(301, "Signature expired"), (-301, "Signature not yet current")])
def test_a_second_more_is_not(seconds: int, words: str) -> None:
    call = signed()
    error = refused(call, now=call.signed_at + timedelta(seconds=seconds))
    assert (error.code, str(error).startswith(words)) == ("InvalidSignatureException", True)


def test_the_same_signed_request_is_accepted_twice() -> None:
    call = signed()
    assert judge(call) == judge(call) == ACCESS_KEY


@pytest.mark.parametrize("name", ["host", "x-amz-date", "x-amz-target"])
def test_what_must_be_signed_must_be_signed(name: str) -> None:
    def unlisted(value: bytes) -> bytes:
        start, _, rest = value.partition(b"SignedHeaders=")
        names, comma, end = rest.partition(b",")
        kept = b";".join(each for each in names.split(b";") if each != name.encode())
        return start + b"SignedHeaders=" + kept + comma + end

    error = refused(with_header(signed(), "authorization", unlisted))
    assert error.code == "InvalidSignatureException"
    assert f"'{name}' must be a 'SignedHeader'" in str(error)


def test_a_target_slipped_in_after_signing_is_refused() -> None:
    call = signed(headers={"Content-Type": "application/x-www-form-urlencoded"})
    assert judge(call) == ACCESS_KEY
    assert "x-amz-target" in str(refused(plus_header(call, "x-amz-target", "AWSGlue.DeleteJob")))


@pytest.mark.parametrize("name", ["host", "x-amz-date", "x-amz-target", "x-amz-content-sha256"])
def test_a_header_that_decides_something_may_come_only_once(name: str) -> None:
    assert "several" in str(refused(plus_header(plus_header(less_header(signed(), name), name, "a"), name, "b")))


def test_two_authorizations_are_refused() -> None:
    call = signed()
    twice = plus_header(call, "authorization", dict(call.request.headers)[b"authorization"].decode())
    assert refused(twice).code == "IncompleteSignatureException"


@pytest.mark.parametrize("name", ["host", "x-amz-date", "x-amz-target", "content-type"])
def test_a_signed_header_that_is_missing_from_the_request_is_refused(name: str) -> None:
    refused(less_header(signed(), name))


@pytest.mark.parametrize("claimed", ["UNSIGNED-PAYLOAD", "STREAMING-AWS4-HMAC-SHA256-PAYLOAD", "0" * 64, "", "é"])
def test_a_body_hash_that_is_not_the_bodys_is_refused_even_when_it_is_signed(claimed: str) -> None:
    call = signed(headers={**TARGET, "X-Amz-Content-SHA256": claimed})
    assert "x-amz-content-sha256" in str(refused(call))


def test_the_right_body_hash_is_accepted() -> None:
    empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    assert judge(signed(body=b"", headers={**TARGET, "X-Amz-Content-SHA256": empty})) == ACCESS_KEY


def test_a_session_token_is_refused_since_none_are_issued() -> None:
    assert refused(signed(token="FwoGZXIvYXdz")).code == "UnrecognizedClientException"


def test_a_signature_for_another_service_is_refused() -> None:
    assert "correct service: glue" in str(refused(signed(service="s3")))


def test_no_authorization_at_all_is_a_missing_token() -> None:
    assert refused(less_header(signed(), "authorization")).code == "MissingAuthenticationTokenException"


@pytest.mark.parametrize(
    "value",
    [
        "",
        "Bearer abc",
        "Basic YTpi",
        "AWS4-HMAC-SHA256",
        "AWS4-HMAC-SHA256 ",
        "AWS4-HMAC-SHA256 Credential=a",
        "AWS4-HMAC-SHA256 Credential=a/b/c/glue/aws4_request, SignedHeaders=, Signature=x",
        "AWS4-HMAC-SHA256 Credential=a/b/c/aws4_request, SignedHeaders=host, Signature=x",
        "AWS4-HMAC-SHA256 Credential=/b/c/glue/aws4_request, SignedHeaders=host, Signature=x",
        "AWS4-HMAC-SHA256 Credential=a/b/c/glue/aws5_request, SignedHeaders=host, Signature=x",
        "AWS4-HMAC-SHA256 Credential=a/b/c/glue/aws4_request, SignedHeaders=host;Date, Signature=x",
        "AWS4-HMAC-SHA256 Credential=a/b/c/glue/aws4_request, SignedHeaders=host;host, Signature=x",
        "AWS4-HMAC-SHA256 Credential=a/b/c/glue/aws4_request, SignedHeaders=x;host, Signature=x",
        "AWS4-ECDSA-P256-SHA256 Credential=a/b/c/glue/aws4_request, SignedHeaders=host, Signature=x",
    ],
)
def test_an_authorization_of_another_form_is_incomplete(value: str) -> None:
    assert (
        refused(with_header(signed(), "authorization", lambda _: value.encode())).code == "IncompleteSignatureException"
    )


@pytest.mark.parametrize(
    "stamp", ["", "now", "20261315T000000Z", "20260101T000000", "2026-01-01T00:00:00Z", "２０２６0101T000000Z"]
)
def test_a_date_of_another_form_is_incomplete(stamp: str) -> None:
    assert refused(with_header(signed(), "x-amz-date", lambda _: stamp.encode())).code == "IncompleteSignatureException"


def test_a_scope_of_another_day_is_refused() -> None:
    call = signed()
    assert "scope" in str(refused(in_authorization(call, f"{call.signed_at:%Y%m%d}", "20150830")))


@pytest.mark.parametrize(
    "change",
    [
        lambda call: altered(call, method="GET"),
        lambda call: altered(call, raw_path=b"/glue"),
        lambda call: altered(call, raw_query=b"a=1"),
        lambda call: altered(call, body=call.request.body + b" "),
        lambda call: altered(call, body=b""),
        lambda call: with_header(call, "host", lambda _: b"evil"),
        lambda call: with_header(call, "x-amz-target", lambda _: b"AWSGlue.DeleteJob"),
        lambda call: with_header(call, "content-type", lambda _: b"text/plain"),
        lambda call: with_header(
            call, "x-amz-date", lambda value: value[:-2] + (b"1Z" if value[-2:] != b"1Z" else b"2Z")
        ),
        lambda call: in_authorization(call, "eu-central-1", "us-east-1"),
        lambda call: in_authorization(call, "Signature=", "Signature=0"),
        lambda call: with_header(call, "authorization", lambda value: value[:-1]),
        lambda call: with_header(call, "authorization", lambda value: value[:-64] + value[-64:].upper()),
        lambda call: with_header(call, "authorization", lambda value: value[:-64] + b"\xff" * 64),
    ],
)
def test_a_change_in_any_part_is_a_wrong_signature(change: Callable[[Call], Call]) -> None:
    call = signed()
    assert "does not match" in str(refused(change(call), now=call.signed_at))


@settings(max_examples=300)
@given(data=st.data())
def test_one_changed_byte_anywhere_in_what_is_signed_is_refused(data: st.DataObject) -> None:
    call = signed(url="http://h:1/glue/x?a=1&b=2", headers={**TARGET, "X-Amz-Meta": "word"})
    part = data.draw(st.sampled_from(["method", "raw_path", "raw_query", "body", "header"]))
    if part == "header":
        covered = (*parse_authorization(call.request.headers).claim.signed_headers, "authorization")
        names = [name.decode() for name, _ in call.request.headers]
        index = names.index(data.draw(st.sampled_from(covered)))
        name, old = call.request.headers[index]
        new = _one_byte_changed(data, old)
        if b" ".join(new.split()) == b" ".join(old.split()) or _same_authorization(name, new, old):
            return
        changed = (*call.request.headers[:index], (name, new), *call.request.headers[index + 1 :])
        refused(altered(call, headers=changed))
    elif part == "method":
        refused(altered(call, method=data.draw(st.sampled_from(["GET", "PUT", "post", "POST "]))))
    else:
        old = getattr(call.request, part)
        new = _one_byte_changed(data, old)
        if new != old:
            refused(altered(call, **{part: new}))


def test_the_parts_of_an_authorization_may_stand_in_any_order() -> None:
    call = signed()
    (given,) = [value for name, value in call.request.headers if name == b"authorization"]
    scheme, _, rest = given.partition(b" ")
    credential, names, signature = rest.split(b", ")
    expected = parse_authorization([(b"authorization", given)])
    for parts in ((signature, credential, names), (names, signature, credential), (credential, names, signature)):
        for between in (b", ", b",", b" ,  "):
            assert parse_authorization([(b"Authorization", scheme + b" " + between.join(parts))]) == expected
    for wrong in (b"X" + signature, b"Signature=", b"signature=ab"):
        with pytest.raises(SignatureRefused, match="requires 'Signature'"):
            parse_authorization([(b"authorization", scheme + b" " + b", ".join((credential, names, wrong)))])


def _one_byte_changed(data: st.DataObject, old: bytes) -> bytes:
    place, byte = data.draw(st.integers(0, len(old) - 1)), data.draw(st.integers(0, 255))
    return old[:place] + bytes([byte]) + old[place + 1 :]


def _same_authorization(name: bytes, new: bytes, old: bytes) -> bool:
    """The access key is not itself signed: another one is another caller, whose secret would not fit."""
    if name != b"authorization":
        return False
    try:
        read, was = parse_authorization([(name, new)]), parse_authorization([(name, old)])
    except SignatureRefused:
        return False
    return (replace(read.claim, access_key=""), read.signature) == (replace(was.claim, access_key=""), was.signature)


@settings(max_examples=200)
@given(st.binary(max_size=120), st.lists(st.tuples(st.binary(max_size=12), st.binary(max_size=20)), max_size=5))
def test_no_bytes_in_the_headers_bring_the_check_down(authorization: bytes, more: list[tuple[bytes, bytes]]) -> None:
    call = signed()
    for value in (authorization, b"AWS4-HMAC-SHA256 " + authorization):
        headers = (*less_header(call, "authorization").request.headers, (b"authorization", value), *more)
        refused(altered(call, headers=headers))


@settings(max_examples=200)
@given(path=st.binary(max_size=40), query=st.binary(max_size=40))
def test_no_bytes_in_the_path_or_query_bring_the_check_down(path: bytes, query: bytes) -> None:
    call = signed(url="http://h/a")
    try:
        judge(altered(call, raw_path=path, raw_query=query))
    except SignatureRefused:
        return
    assert [part for part in path.split(b"/") if part not in (b"", b".", b"..")][:1] == [b"a"]
