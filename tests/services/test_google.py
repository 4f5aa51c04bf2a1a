"""The stand-in for Google is as strict as Google: a token is for what was signed, and a sheet for whoever has one."""

import base64
import json
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator

import pytest
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa

from tests.services.google import GRANT, Cell, GoogleStandIn, Spreadsheet
from tests.services.loopback import answer_of

SCOPE = "https://www.googleapis.com/auth/spreadsheets.readonly"


@pytest.fixture
def google() -> Iterator[GoogleStandIn]:
    with GoogleStandIn() as server:
        sheet: list[list[Cell]] = [["id", "name"], [1, "a"], [2, "물시계"], [3, ""]]
        server.spreadsheets["book"] = Spreadsheet(sheets={"First": sheet, "it's": [["x"], [True]]})
        yield server


def signed(google: GoogleStandIn, key: rsa.RSAPrivateKey | None = None, alg: str = "RS256", **other: object) -> str:
    account, now = google.service_account, int(time.time())
    if key is None:
        loaded = serialization.load_pem_private_key(account["private_key"].encode(), None)
        assert isinstance(loaded, rsa.RSAPrivateKey)
        key = loaded
    claims = {"iss": account["client_email"], "scope": SCOPE, "aud": google.token_uri, "iat": now, "exp": now + 3600}
    parts = [json.dumps({"alg": alg, "typ": "JWT"}).encode(), json.dumps({**claims, **other}).encode()]
    text = ".".join(base64.urlsafe_b64encode(part).rstrip(b"=").decode() for part in parts)
    signature = key.sign(text.encode(), padding.PKCS1v15(), hashes.SHA256())
    return f"{text}.{base64.urlsafe_b64encode(signature).rstrip(b'=').decode()}"


def token(google: GoogleStandIn, assertion: str) -> str:
    form = urllib.parse.urlencode({"grant_type": GRANT, "assertion": assertion}).encode()
    return str(json.loads(answer_of(urllib.request.Request(google.token_uri, data=form)))["access_token"])


def refusal(google: GoogleStandIn, assertion: str) -> str:
    with pytest.raises(urllib.error.HTTPError) as refused:
        token(google, assertion)
    return str(json.loads(refused.value.read())["error_description"])


def values(google: GoogleStandIn, asked: str, bearer: str) -> object:
    url = f"{google.base_url}/v4/spreadsheets/book/values/{urllib.parse.quote(asked, safe='')}"
    return json.loads(answer_of(urllib.request.Request(url, headers={"authorization": f"Bearer {bearer}"})))["values"]


def test_a_signed_claim_gets_a_token_and_the_token_the_values(google: GoogleStandIn) -> None:
    bearer = token(google, signed(google))
    assert values(google, "First", bearer) == [["id", "name"], [1, "a"], [2, "물시계"], [3]]
    assert values(google, "First!A2:B3", bearer) == [[1, "a"], [2, "물시계"]]
    assert values(google, "'it''s'!A:A", bearer) == [["x"], [True]]


def test_nothing_but_a_claim_of_the_account_signed_by_its_key_gets_one(google: GoogleStandIn) -> None:
    stranger = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    assert refusal(google, signed(google, stranger)) == "Invalid JWT Signature."
    assert "RS256" in refusal(google, signed(google, alg="none"))
    assert "audience" in refusal(google, signed(google, aud="https://elsewhere.example/token"))
    assert "account not found" in refusal(google, signed(google, iss="nobody@tests"))
    assert "timeframe" in refusal(google, signed(google, iat=1, exp=3000))
    assert "short-lived" in refusal(google, signed(google, exp=int(time.time()) + 90_000))
    assert "scope" in refusal(google, signed(google, scope="openid"))
    assert "three parts" in refusal(google, "nonsense")
    assert google.tokens_given == 0


def test_values_are_for_whoever_has_a_token(google: GoogleStandIn) -> None:
    bearer = token(google, signed(google))
    google.forget_tokens()
    with pytest.raises(urllib.error.HTTPError, match="401"):
        values(google, "First", bearer)


def test_a_public_sheet_is_exported_without_one_and_another_leads_to_the_sign_in_page(google: GoogleStandIn) -> None:
    url = f"{google.base_url}/spreadsheets/d/book/export?format=csv&gid=0"
    assert b"Sign in" in answer_of(url)
    google.spreadsheets["book"].public = True
    assert answer_of(url).decode() == "id,name\r\n1,a\r\n2,물시계\r\n3,\r\n"
