"""Asking a service: logins, failures that pass and those that stay, its pace, and where requests never go."""

import itertools
import logging
from typing import Any

import pytest

from tests.runners.sync.rest_clients import JOB_OF_PAGES, Waiting, client_of, page_of, read
from tests.services.rest_service import CLIENT, Fault, RestService, numbered
from tests.services.server import free_port
from waterclock.runners.sync.service import wire
from waterclock.runners.sync.service.client import Client
from waterclock.runners.sync.service.config import service_of
from waterclock.runners.sync.service.times import Times
from waterclock.runners.sync.source import SourceFailed

RECORDS = numbered(3)
TOKEN = "a-secret-token"

# Logins


def test_a_token_is_sent() -> None:
    with RestService(RECORDS, token=TOKEN) as service:
        assert page_of(client_of(service, auth={"type": "bearer", "token": TOKEN})) == RECORDS


def test_a_wrong_token_is_said_at_once_and_shown_nowhere() -> None:
    waiting = Waiting()
    with RestService(RECORDS, token=TOKEN) as service:
        with pytest.raises(SourceFailed, match=r"^GET http://127.*/all: the credentials are refused \(401\)") as failed:
            page_of(client_of(service, waiting, auth={"type": "bearer", "token": "a-wrong-token"}))
        assert len(service.asked) == 1
    assert "a-wrong-token" not in str(failed.value)  # which the service repeats
    assert "Bearer ***" in str(failed.value)
    assert waiting.waits == []


def test_a_user_with_a_password_a_key_and_headers_are_sent() -> None:
    with RestService(RECORDS) as service:
        page_of(client_of(service, auth={"type": "basic", "user": "ann", "password": "pässword"}))
        page_of(client_of(service, auth={"type": "api_key", "name": "X-Key", "value": "k-1"}, headers={"X-More": "1"}))
        page_of(client_of(service, auth={"type": "api_key", "name": "key", "value": "k 2", "in": "query"}), "/all?a=1")
        basic, header, query = service.asked
    assert basic.headers["authorization"] == "Basic YW5uOnDDpHNzd29yZA=="
    assert (header.headers["x-key"], header.headers["x-more"]) == ("k-1", "1")
    assert query.params == {"a": "1", "key": "k 2"}


def test_no_key_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    with RestService(RECORDS) as service:
        page_of(client_of(service, auth={"type": "api_key", "name": "key", "value": "a-secret-key", "in": "query"}))
    assert "a-secret-key" not in caplog.text


def oauth(service: RestService, **more: object) -> dict[str, Any]:
    auth = {"token_url": f"{service.url}/token", "client_id": CLIENT[0], "client_secret": CLIENT[1], **more}
    return {"auth": {"type": "oauth2_client", **auth}}


def test_a_token_is_fetched_kept_and_fetched_again_when_it_is_old_or_refused() -> None:
    waiting = Waiting()
    with RestService(RECORDS, token="nobody has it") as service:
        client = client_of(service, waiting, **oauth(service, scope="read"))
        url = client.url_of("/all")
        for _ in range(3):
            client.ask("GET", url, params={})
        assert service.paths() == ["/token", "/all", "/all", "/all"]
        assert service.asked[0].body == {"grant_type": "client_credentials", "scope": "read"}
        service.token = "the service has forgotten it"
        assert client.ask("GET", url, params={}).page == RECORDS
        assert service.paths()[4:] == ["/all", "/token", "/all"]
        waiting.now += 3600
        client.ask("GET", url, params={})
        assert service.paths()[7:] == ["/token", "/all"]
        client.close()


def test_a_client_that_is_not_known_gets_no_token() -> None:
    with RestService(RECORDS) as service, pytest.raises(SourceFailed, match=r"/token: no token .*401: invalid_client"):
        page_of(client_of(service, **oauth(service, client_secret="wrong-secret")))


# Failures


def test_failures_that_may_pass_are_waited_for_twice_as_long_each_time() -> None:
    waiting = Waiting()
    with RestService(RECORDS) as service:
        service.fail(Fault(status=500), Fault(status=503), Fault(cut=0), Fault(cut=0.5), Fault(status=502))
        assert page_of(client_of(service, waiting)) == RECORDS
    assert waiting.waits == [1, 2, 4, 8, 16]


def test_a_service_that_names_the_time_is_asked_then() -> None:
    waiting = Waiting()
    with RestService(RECORDS) as service:
        service.fail(
            Fault(status=429, headers={"retry-after": "7"}),
            Fault(status=503, headers={"retry-after": "Mon, 16 Nov 2026 12:00:30 GMT"}),
            Fault(status=503, headers={"retry-after": "Sun, 15 Nov 2026 12:00:30 GMT"}),
            Fault(status=429, headers={"retry-after": "soon"}),
        )
        assert page_of(client_of(service, waiting)) == RECORDS
    assert waiting.waits == [7, 23, 0, 8]


def test_a_service_that_asks_for_an_hour_is_not_waited_for() -> None:
    waiting = Waiting()
    with RestService(RECORDS) as service:
        service.fail(Fault(status=429, headers={"retry-after": "3600"}))
        with pytest.raises(SourceFailed, match="answered 429: a fault of the tests; it asks to come back after 3600 s"):
            page_of(client_of(service, waiting))
    assert waiting.waits == []


def test_a_failure_that_stays_is_said_with_how_often_it_was_tried() -> None:
    with RestService(RECORDS) as service:
        service.fails = lambda number: Fault(status=500, body="x" * 5000)
        with pytest.raises(SourceFailed, match=r"/all: the service answered 500: x{300}… \(asked 3 times\)$"):
            page_of(client_of(service, retries=2))
        assert len(service.asked) == 3


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/nothing", r"there is nothing at this address \(404\).*endpoint.*it says: .*no such path"),
        ("/html", "the answer is no JSON: <html> <p>Sign in</html>"),
    ],
)
def test_failures_that_stay_are_not_tried_again(path: str, words: str) -> None:
    waiting = Waiting()
    with RestService(RECORDS) as service:
        with pytest.raises(SourceFailed, match=words):
            page_of(client_of(service, waiting), path)
        assert len(service.asked) == 1


def test_a_service_that_is_down_is_said() -> None:
    given = {"base_url": f"http://127.0.0.1:{free_port()}", "retries": 1}
    client = Client(service_of(given), allows_private=True, times=Waiting().times)
    with pytest.raises(SourceFailed, match=r"the service cannot be reached: .*refused \(asked 2 times\)"):
        page_of(client)


def test_a_silent_service_is_left() -> None:
    with RestService(RECORDS) as service:
        service.fail(Fault(held=True))
        with pytest.raises(SourceFailed, match=r"the service has been silent for 0\.05 s"):
            page_of(client_of(service, timeout_seconds=0.05, retries=0))


def test_a_page_that_comes_drop_by_drop_is_left() -> None:
    hours = itertools.count(0, 3600)
    with RestService(RECORDS) as service:
        given = {"base_url": service.url, "retries": 0}
        client = Client(service_of(given), allows_private=True, times=Times(monotonic=lambda: float(next(hours))))
        with pytest.raises(SourceFailed, match="the page was not whole after 600 s"):
            page_of(client)


def test_a_page_that_is_too_large_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "MOST_BYTES", 1000)
    with RestService(numbered(100)) as service, pytest.raises(SourceFailed, match="ask for fewer records at once"):
        page_of(client_of(service))


def test_a_service_that_fails_every_other_time_is_read_whole_and_once() -> None:
    with RestService(numbered(200)) as service:
        service.fails = lambda number: [None, Fault(status=500), None, Fault(cut=0.5)][number % 4]
        assert read(service, JOB_OF_PAGES)[1] == list(range(1, 201))
        assert len(service.asked) > 21


def test_a_service_that_dies_half_way_is_a_failure_with_no_page_twice() -> None:
    with RestService(numbered(200)) as service:
        service.fails = lambda number: Fault(cut=0.5) if number > 10 else None
        with pytest.raises(SourceFailed, match=r"/pages: the connection was lost: .*asked 6 times"):
            read(service, JOB_OF_PAGES)
        assert service.params("page") == [str(number) for number in range(1, 11)] + ["11"] * 6


# Pace


def test_requests_keep_the_pace_that_the_source_names() -> None:
    waiting = Waiting()
    with RestService(numbered(25)) as service:
        read(service, JOB_OF_PAGES, waiting, rate_limit_per_second=4)
        assert len(service.asked) == 4
    assert waiting.waits == [0.25] * 3


# Where requests go


def test_private_addresses_are_refused_unless_they_are_allowed() -> None:
    waiting = Waiting()
    with RestService(RECORDS) as service:
        with pytest.raises(SourceFailed, match=r"127\.0\.0\.1 is not a public address.*lake\.private"):
            page_of(client_of(service, waiting, private=False))
        named = {"base_url": f"http://localhost:{service.port}"}
        with pytest.raises(SourceFailed, match=r"localhost is at (127\.0\.0\.1|::1), which is not a public address"):
            page_of(client_of(service, waiting, private=False, **named))
        elsewhere = Client(service_of({"base_url": "http://192.0.2.1", **oauth(service)}), allows_private=False)
        with pytest.raises(SourceFailed, match="is not a public address"):
            page_of(elsewhere)
        assert service.asked == []
    assert waiting.waits == []


def test_redirects_are_followed_at_home_and_nowhere_else() -> None:
    with RestService(RECORDS) as other, RestService(RECORDS, elsewhere=f"{other.url}/all?x=1") as service:
        assert page_of(client_of(service), "/moved") == RECORDS
        with pytest.raises(SourceFailed, match=rf"it leads to {other.url}, which is not the source's base_url"):
            page_of(client_of(service), "/away")
        assert other.asked == []


def test_a_redirect_that_goes_round_ends() -> None:
    with RestService(RECORDS, elsewhere="/away") as service, pytest.raises(SourceFailed, match="more than 5 times"):
        page_of(client_of(service), "/away")


def test_a_link_to_plain_http_of_the_same_host_stays_encrypted() -> None:
    client = Client(service_of({"base_url": "https://api.example.com/v1"}), allows_private=False)
    url = client.url_of("/items")
    assert str(client.here("http://api.example.com/v1/items?page=2", url)) == "https://api.example.com/v1/items?page=2"
    assert str(client.here("?page=2", url)) == "https://api.example.com/v1/items?page=2"
    for wrong in ("https://api.example.com:8443/", "https://api.example.com.evil/", "//evil/", "http://[", "file:///x"):
        with pytest.raises(SourceFailed):
            client.here(wrong, url)
    client.close()


# Configs


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ({"base_url": None}, "base_url is missing"),
        ({"base_url": "api.example.com"}, "base_url is no address such as https"),
        ({"base_url": "ftp://api.example.com"}, "base_url is no address such as https"),
        ({"base_url": "https://ann:secret@api.example.com"}, "auth is for that"),
        ({"base_url": "https://api.example.com?key=secret"}, "may not hold a query"),
        ({"base_url": "https://api.example.com:port"}, "base_url is no address"),
        ({"base_url": "https://api.example.com/a b"}, "cannot hold"),
        ({"headers": {"X-A": "b\r\nX-C: d"}}, r"headers\.X-A must be a text of printable ASCII"),
        ({"headers": {"Host": "x"}}, "Host is not for you to set"),
        ({"headers": {"a b": "x"}}, "'a b' is no name of a header"),
        ({"auth": "bearer"}, "auth must be an object"),
        ({"auth": {"type": "digest"}}, r"auth\.type is 'digest': known are none, bearer"),
        ({"auth": {"type": "bearer"}}, r"auth\.token must be"),
        ({"auth": {"type": "bearer", "token": "tökén"}}, r"auth\.token must be"),
        ({"auth": {"type": "oauth2_client", "token_url": "x"}}, r"auth\.token_url is no address"),
        ({"rate_limit_per_second": 0}, "rate_limit_per_second must be a number above 0"),
        ({"retries": -1}, "retries must be a whole number from 0"),
        ({"timeout_seconds": "60"}, "timeout_seconds must be a number"),
    ],
)
def test_what_is_wrong_in_a_source_is_said_without_its_secrets(config: dict[str, Any], words: str) -> None:
    with pytest.raises(SourceFailed, match=words) as failed:
        service_of({"base_url": "https://api.example.com", **config})
    assert "secret" not in str(failed.value)
