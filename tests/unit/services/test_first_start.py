"""The first start: one admin, a key in a private file, also when it is interrupted."""

import configparser
import stat
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from waterclock.app.first_start import PrivateFiles, first_start
from waterclock.faces.http.auth import first_admin
from waterclock.services.access import Access, FirstStart
from waterclock.services.secretbox import SecretBox
from waterclock.stores.base import Database
from waterclock.stores.opening import database_from_url


@pytest.fixture
async def database() -> AsyncIterator[Database]:
    database = database_from_url("sqlite://")
    await database.open()
    await database.migrate()
    yield database
    await database.close()


@pytest.fixture
def access(database: Database, tmp_path: Path) -> Access:
    return Access(database, SecretBox(tmp_path / "keys"))


async def test_it_makes_an_admin_whose_files_only_we_can_read(access: Access, tmp_path: Path) -> None:
    await first_start(access, tmp_path)
    for name in ("credentials", "token"):
        assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o600
    secret = await access.secret_of(key_in(tmp_path / "credentials"))
    identity = await access.identity_of((tmp_path / "token").read_text().strip())
    assert secret
    assert identity
    assert secret.identity == identity
    assert identity.user.role == "admin"


async def test_keys_can_be_given_on_a_command_line_whatever_was_drawn(access: Access, tmp_path: Path) -> None:
    await first_start(access, tmp_path)
    admin = first_admin(address="", request_id="")
    keys = [await access.create_key(admin, "admin") for _ in range(20)]
    assert all(key.secret.isalnum() and key.id.isalnum() for key in keys)


async def test_the_second_start_changes_nothing(access: Access, tmp_path: Path) -> None:
    await first_start(access, tmp_path)
    before = (tmp_path / "credentials").read_text()
    await first_start(access, tmp_path)
    assert (tmp_path / "credentials").read_text() == before


async def test_a_crash_after_the_store_knew_leaves_the_key_at_hand(access: Access, tmp_path: Path) -> None:
    files = PrivateFiles(tmp_path)
    await access.first_start(files.write_aside)  # and then the power goes
    assert not files.credentials.exists()
    await first_start(access, tmp_path)
    assert await access.secret_of(key_in(files.credentials))


async def test_a_crash_before_the_store_knew_begins_again(access: Access, tmp_path: Path) -> None:
    class PowerCut(Exception):
        pass

    def keep(made: FirstStart) -> None:
        PrivateFiles(tmp_path).write_aside(made)
        raise PowerCut

    with pytest.raises(PowerCut):
        await access.first_start(keep)
    await first_start(access, tmp_path)
    assert await access.secret_of(key_in(tmp_path / "credentials"))


def key_in(path: Path) -> str:
    parsed = configparser.ConfigParser()
    parsed.read(path)
    return parsed["default"]["aws_access_key_id"]
