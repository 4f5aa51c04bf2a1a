"""Files of this machine, what is compressed, and what goes to Google: without a server."""

import base64
import gzip
import json
import os
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa

from tests.runners.sync.streams import Bytes
from waterclock.runners.sync.formats.gzip import unpacked
from waterclock.runners.sync.google_token import SCOPE, account_of
from waterclock.runners.sync.places.local import LocalPlace
from waterclock.runners.sync.places.place import Stream
from waterclock.runners.sync.places.sheets import spreadsheet_of
from waterclock.runners.sync.source import Means, SourceFailed


def whole(stream: Stream, size: int = 3) -> bytes:
    return b"".join(iter(lambda: stream.read(size), b""))


def test_a_file_below_a_root_is_found_and_read(tmp_path: Path) -> None:
    (tmp_path / "orders").mkdir()
    (tmp_path / "orders/a.csv").write_bytes(b"content")
    place = LocalPlace({"path": "orders"}, Means(roots=("/nowhere", str(tmp_path))))
    [found] = place.find("*.csv")
    assert (found.name, found.size) == ("a.csv", 7)
    assert whole(place.open(found)) == b"content"
    [same] = LocalPlace({"path": f"{tmp_path}/orders/a.csv"}, Means(roots=(str(tmp_path),))).find("*.csv")
    assert same == found


@pytest.mark.parametrize("path", ["/etc", "../..", "missing", "a\0b"])
def test_nothing_else_is_found(tmp_path: Path, path: str) -> None:
    with pytest.raises(SourceFailed, match=r"below a folder that jobs may read|NUL"):
        LocalPlace({"path": path}, Means(roots=(str(tmp_path),)))


def test_a_file_that_becomes_a_link_or_grows_is_refused(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (tmp_path / "secret").write_bytes(b"secret!")
    (root / "a.csv").write_bytes(b"content")
    place = LocalPlace({"path": str(root)}, Means(roots=(str(root),)))
    [found] = place.find("a.csv")
    stream = place.open(found)
    assert stream.read(3) == b"con"
    with (root / "a.csv").open("ab") as file:
        file.write(b"more")
    with pytest.raises(SourceFailed, match=r"a.csv was changed while it was read"):
        whole(stream)
    (root / "a.csv").unlink()
    (root / "a.csv").symlink_to(tmp_path / "secret")
    with pytest.raises(SourceFailed, match="leads out"):
        place.open(found)
    (root / "a.csv").unlink()
    os.mkfifo(root / "a.csv")
    with pytest.raises(SourceFailed, match="no plain file"):
        place.open(found)


def test_links_in_circles_end(tmp_path: Path) -> None:
    (tmp_path / "circle").symlink_to(tmp_path)
    place = LocalPlace({"path": str(tmp_path)}, Means(roots=(str(tmp_path),)))
    with pytest.raises(SourceFailed, match=r"circle/circle/circle/… has more than|cannot be listed"):
        place.find("**/x.csv")


@pytest.mark.parametrize("size", [1, 3, 1000])
def test_gzip_is_known_by_its_first_bytes(size: int) -> None:
    packed = gzip.compress(b"one ") + gzip.compress(b"two")
    assert whole(unpacked(Bytes(packed), "a"), size) == b"one two"
    assert whole(unpacked(Bytes(b"\x1fplain"), "a"), size) == b"\x1fplain"
    assert whole(unpacked(Bytes(b""), "a"), size) == b""


@pytest.mark.parametrize(("cut", "words"), [(-4, "a is cut"), (12, "a is cut")])
def test_a_cut_gzip_is_refused(cut: int, words: str) -> None:
    with pytest.raises(SourceFailed, match=words):
        whole(unpacked(Bytes(gzip.compress(b"one two three")[:cut]), "a"))


def test_a_damaged_gzip_is_refused() -> None:
    packed = bytearray(gzip.compress(b"one two three" * 10))
    packed[-6] ^= 0xFF
    with pytest.raises(SourceFailed, match="a is damaged"):
        whole(unpacked(Bytes(bytes(packed)), "a"))


def test_a_statement_for_google_is_signed_by_the_accounts_key() -> None:
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    pem = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    account = {"client_email": "reader@example.com", "private_key": pem.decode(), "private_key_id": "7"}
    made = account_of({"service_account": json.dumps(account), "token_uri": "https://token.example.com/"})
    header, claims, signature = made.statement(1_000).split(".")
    assert json.loads(decoded(header)) == {"alg": "RS256", "typ": "JWT", "kid": "7"}
    assert json.loads(decoded(claims)) == {
        "iss": "reader@example.com",
        "scope": SCOPE,
        "aud": "https://token.example.com/",
        "iat": 1_000,
        "exp": 4_600,
    }
    key.public_key().verify(decoded(signature), f"{header}.{claims}".encode(), padding.PKCS1v15(), hashes.SHA256())
    assert pem.decode() not in repr(made)


@pytest.mark.parametrize("account", ["not JSON", "{}", '{"client_email": "a", "private_key": "b"}'])
def test_what_is_no_service_account_is_refused(account: str) -> None:
    with pytest.raises(SourceFailed, match=r"^service_account"):
        account_of({"service_account": account}).statement(0)


def decoded(part: str) -> bytes:
    return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))


def test_a_spreadsheet_is_named_by_its_id_or_its_address() -> None:
    assert spreadsheet_of({"spreadsheet_id": "1AbC-d_e"}) == "1AbC-d_e"
    address = "https://docs.google.com/spreadsheets/d/1AbC-d_e/edit#gid=0"
    assert spreadsheet_of({"spreadsheet_id": address}) == "1AbC-d_e"
    with pytest.raises(SourceFailed, match="after /d/ in its address"):
        spreadsheet_of({"spreadsheet_id": "a b"})
