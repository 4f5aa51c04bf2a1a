"""Files of a web server: where a redirect may lead, and how each is named."""

import pytest

from tests.services.web_files import Served, WebFiles
from waterclock.runners.sync.places.http import HttpPlace
from waterclock.runners.sync.source import Means, SourceFailed


@pytest.fixture
def public(monkeypatch: pytest.MonkeyPatch) -> None:
    """One address of this machine passes for a public one."""
    monkeypatch.setattr("waterclock.reachable.is_public", lambda host: host == "127.0.0.1")


@pytest.mark.usefixtures("public")
def test_a_redirect_to_a_private_address_is_refused() -> None:
    with WebFiles() as web:
        web.files = {"/a.csv": Served(location="http://127.0.0.2:1/b.csv"), "/b.csv": Served(content=b"id\n")}
        place = HttpPlace({"base_url": web.base_url}, Means())
        with pytest.raises(SourceFailed, match=r"127\.0\.0\.2 is not a public address"):
            place.find("a.csv")
        assert [found.name for found in place.find("b.csv")] == ["b.csv"]
        place.close()


@pytest.mark.usefixtures("public")
def test_a_token_is_fetched_from_public_addresses_only() -> None:
    with WebFiles() as web:
        auth = {"type": "oauth2_client", "client_id": "a", "client_secret": "a-secret-of-the-tests"}
        elsewhere = {**auth, "token_url": "http://127.0.0.2:1/token"}
        with pytest.raises(SourceFailed, match=r"127\.0\.0\.2 is not a public address"):
            HttpPlace({"base_url": web.base_url, "auth": elsewhere}, Means()).find("a.csv")
        refusing = {**auth, "token_url": f"{web.base_url}/token"}
        with pytest.raises(SourceFailed, match=r"no token was given \(501"):
            HttpPlace({"base_url": web.base_url, "auth": refusing}, Means()).find("a.csv")
        assert web.asked == []


def test_a_redirect_goes_to_the_web_and_ends() -> None:
    with WebFiles() as web:
        web.files = {"/a": Served(location="file:///etc/passwd"), "/b": Served(location="/b")}
        place = HttpPlace({"base_url": web.base_url}, Means(allows_private=True))
        with pytest.raises(SourceFailed, match="no web address"):
            place.find("a")
        with pytest.raises(SourceFailed, match="more than 5 redirects"):
            place.find("b")
        place.close()


@pytest.mark.parametrize("path", ["*.csv", "https://elsewhere.example.com/a.csv", "a\x7f.csv"])
def test_a_file_is_named_below_the_source(path: str) -> None:
    with pytest.raises(SourceFailed, match=r"^path "):
        HttpPlace({"base_url": "http://127.0.0.1:1"}, Means(allows_private=True)).find(path)
