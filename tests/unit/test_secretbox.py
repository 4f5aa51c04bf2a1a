"""Sealed secrets: readable only with the key file, in their own place, across rotations."""

import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from waterclock.services.secretbox import KeyFileRefused, SecretBox, SecretUnreadable


@pytest.fixture
def key_file(tmp_path: Path) -> Path:
    return tmp_path / "secret.key"


def test_a_sealed_secret_opens_again_also_in_another_process(key_file: Path) -> None:
    sealed = SecretBox(key_file).seal("wJalrXUtnFEMI/K7MDENG 🔑", context="AKIA1")
    assert SecretBox(key_file).open(sealed, context="AKIA1") == "wJalrXUtnFEMI/K7MDENG 🔑"


def test_the_key_file_is_made_at_first_use_for_its_owner_alone(key_file: Path) -> None:
    box = SecretBox(key_file)
    assert not key_file.exists()
    previous = os.umask(0)
    try:
        box.seal("x")
    finally:
        os.umask(previous)
    assert stat.S_IMODE(key_file.stat().st_mode) == 0o600
    assert list(key_file.parent.iterdir()) == [key_file]


def test_a_sealed_value_shows_neither_the_secret_nor_that_two_are_equal(key_file: Path) -> None:
    box = SecretBox(key_file)
    first, second = box.seal("hunter2"), box.seal("hunter2")
    assert "hunter2" not in first
    assert first != second


def test_a_secret_moved_to_another_row_does_not_open(key_file: Path) -> None:
    box = SecretBox(key_file)
    with pytest.raises(SecretUnreadable):
        box.open(box.seal("x", context="AKIA1"), context="AKIA2")


def test_a_secret_does_not_open_with_another_key_file(tmp_path: Path) -> None:
    sealed = SecretBox(tmp_path / "one").seal("x")
    other = SecretBox(tmp_path / "two")
    other.seal("y")
    with pytest.raises(SecretUnreadable, match="has no key"):
        other.open(sealed)


def test_after_a_rotation_old_secrets_open_and_are_known_to_be_stale(key_file: Path) -> None:
    box = SecretBox(key_file)
    old = box.seal("x")
    assert not box.is_stale(old)
    key_id = box.rotate()
    new = box.seal("x")
    assert new.split(".")[1] == key_id
    assert (box.is_stale(old), box.is_stale(new)) == (True, False)
    assert box.open(old) == box.open(new) == "x"
    assert stat.S_IMODE(key_file.stat().st_mode) == 0o600


def test_a_running_process_opens_what_another_sealed_after_a_rotation(key_file: Path) -> None:
    running, other = SecretBox(key_file), SecretBox(key_file)
    running.seal("warm")
    other.rotate()
    assert running.open(other.seal("x")) == "x"


def test_many_first_users_at_once_agree_on_one_key(key_file: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        sealed = list(pool.map(lambda n: SecretBox(key_file).seal(str(n)), range(32)))
    assert [SecretBox(key_file).open(value) for value in sealed] == [str(n) for n in range(32)]
    assert len(key_file.read_text().splitlines()) == 1


def test_rotations_at_once_lose_no_key(key_file: Path) -> None:
    SecretBox(key_file).seal("x")
    with ThreadPoolExecutor(8) as pool:
        made = set(pool.map(lambda _: SecretBox(key_file).rotate(), range(16)))
    assert made < {line.split()[0] for line in key_file.read_text().splitlines()}
    assert len(key_file.read_text().splitlines()) == 17


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o644, 0o660])
def test_a_key_file_that_others_may_read_is_refused(key_file: Path, mode: int) -> None:
    SecretBox(key_file).seal("x")
    key_file.chmod(mode)
    with pytest.raises(KeyFileRefused, match="chmod 600"):
        SecretBox(key_file).seal("y")


@pytest.mark.parametrize("content", [b"", b"\n", b"k1 AAAA\n", b"k1\n", b"not a key\n", b"\xff\xfe"])
def test_a_damaged_key_file_is_refused_never_replaced(key_file: Path, content: bytes) -> None:
    key_file.write_bytes(content)
    key_file.chmod(0o600)
    with pytest.raises(KeyFileRefused):
        SecretBox(key_file).seal("x")
    assert key_file.read_bytes() == content


def test_a_lost_key_file_is_not_made_anew_to_open_a_secret(key_file: Path) -> None:
    sealed = SecretBox(key_file).seal("x")
    key_file.unlink()
    with pytest.raises(KeyFileRefused, match="missing"):
        SecretBox(key_file).open(sealed)
    assert not key_file.exists()


@given(data=st.data())
def test_a_damaged_sealed_value_never_opens(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    box = SecretBox(tmp_path_factory.getbasetemp() / "fuzz.key")
    sealed = box.seal("secret", context="row")
    place = data.draw(st.integers(0, len(sealed) - 1))
    other = data.draw(st.characters() | st.sampled_from("0123456789abcxyz+/-_=."))
    damaged = sealed[:place] + other + sealed[place + 1 :]
    if damaged != sealed:
        with pytest.raises(SecretUnreadable):
            box.open(damaged, context="row")


@pytest.mark.parametrize(
    "value", ["", "x", "v1..", "v1.k.", "v2.k.AAAA", "v1.k.AAAA", "v1.k.!!!!", "a.b.c.d", "v1.k.é"]
)
def test_what_is_not_a_sealed_value_is_refused(key_file: Path, value: str) -> None:
    box = SecretBox(key_file)
    box.seal("x")
    with pytest.raises(SecretUnreadable):
        box.open(value)
