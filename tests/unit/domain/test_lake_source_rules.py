"""What a source's config may hold: kept as it is meant, or refused by its place and without its value."""

import json
from typing import Any

import pytest

from waterclock.domain.errors import InvalidInput
from waterclock.domain.lake_source_rules import FIELDS, check_source_name, checked_config
from waterclock.domain.lake_source_secrets import MASK, in_the_open, name_of, own_secrets, referring, shown, with_kept
from waterclock.domain.lake_sync import LakeSource, SourceKind

DATABASE: dict[str, Any] = {"host": "db.example.com", "database": "shop", "user": "reader", "password": "hunter22"}
ACCOUNT = {"type": "service_account", "client_email": "a@b.iam", "private_key": "-----BEGIN PRIVATE KEY-----\nx\n"}
GOOD: dict[SourceKind, dict[str, Any]] = {
    SourceKind.POSTGRESQL: {**DATABASE, "port": 5433, "options": {"sslmode": "require"}},
    SourceKind.MYSQL: DATABASE,
    SourceKind.SQLITE: {"path": "shop.db"},
    SourceKind.SQLALCHEMY: {"url": "mssql+pymssql://reader:hunter22@db/shop"},
    SourceKind.REST: {
        "base_url": "https://api.example.com/v1",
        "headers": {"Accept": "application/json", "X-Api-Key": "hunter22"},
        "auth": {
            "type": "oauth2_client",
            "token_url": "https://id/token",
            "client_id": "a",
            "client_secret": "hunter22",
        },
        "rate_limit_per_second": 2.5,
        "retries": 0,
        "endpoints": ["orders", "people"],
    },
    SourceKind.S3: {"endpoint": "http://127.0.0.1:8333", "bucket": "lake", "access_key": "A", "secret_key": "hunter22"},
    SourceKind.HTTP: {"base_url": "http://files/", "auth": {"type": "basic", "user": "a", "password": "hunter22"}},
    SourceKind.SFTP: {"host": "::1", "port": 2222, "user": "a", "private_key": "-----BEGIN\nhunter22\n-----END"},
    SourceKind.LOCAL: {"path": "orders"},
    SourceKind.GOOGLE_SHEETS: {"service_account": ACCOUNT, "token_uri": "https://token"},
}


def source(config: dict[str, object], kind: SourceKind = SourceKind.POSTGRESQL) -> LakeSource:
    return LakeSource(
        id=3, org_id=1, name="s", kind=kind, owner="ann", creator="ann", config=config, created_at=0, updated_at=0
    )


def test_every_kind_has_its_fields() -> None:
    assert FIELDS.keys() == GOOD.keys() == set(SourceKind)
    for kind, config in GOOD.items():
        not_given = dict.fromkeys(FIELDS[kind].keys() - config.keys())
        assert checked_config(kind, {**config, **not_given}).keys() >= config.keys()


@pytest.mark.parametrize("kind", GOOD)
def test_a_secret_is_kept_by_its_name_and_shown_to_nobody(kind: SourceKind) -> None:
    config = checked_config(kind, GOOD[kind])
    kept = source(referring(3, config), kind)
    told = json.dumps(shown(kept))
    assert "hunter22" not in json.dumps(kept.config) + told
    assert "PRIVATE KEY" not in json.dumps(kept.config)
    names = {name_of(3, place) for place in in_the_open(config)}
    assert own_secrets(kept) == names
    assert told.count(MASK) == len(names)
    assert checked_config(kind, shown(kept)) == shown(kept)
    assert with_kept(shown(kept), kept.config) == kept.config


def test_ports_are_filled_in_and_null_is_as_good_as_not_given() -> None:
    assert checked_config(SourceKind.MYSQL, {**DATABASE, "options": None})["port"] == 3306
    assert checked_config(SourceKind.POSTGRESQL, {**DATABASE, "port": None})["port"] == 5432


def test_a_reference_is_kept_and_shown_as_it_was_given() -> None:
    config = checked_config(SourceKind.POSTGRESQL, {**DATABASE, "password": "{{secret:warehouse}}"})
    kept = source(referring(3, config))
    assert shown(kept)["password"] == kept.config["password"] == "{{secret:warehouse}}"
    assert not own_secrets(kept)
    url = {"url": "mssql://reader:{{secret:warehouse}}@db/shop"}
    assert referring(3, checked_config(SourceKind.SQLALCHEMY, url)) == url


def test_what_is_masked_must_stand_for_something() -> None:
    with pytest.raises(InvalidInput, match=r"config.password: there is nothing stored"):
        with_kept({**DATABASE, "password": MASK}, {**DATABASE, "password": None})


REFUSED: list[tuple[SourceKind, Any, str]] = [
    (SourceKind.POSTGRESQL, [], "config: must be a JSON object"),
    (SourceKind.POSTGRESQL, {**DATABASE, "host": None}, "config.host: is required"),
    (SourceKind.POSTGRESQL, {**DATABASE, "host": "http://hunter22"}, "config.host: must be a name"),
    (SourceKind.POSTGRESQL, {**DATABASE, "port": "hunter22"}, "config.port: must be a whole number"),
    (SourceKind.POSTGRESQL, {**DATABASE, "pasword": "hunter22"}, "config.pasword: unknown field"),
    (SourceKind.POSTGRESQL, {**DATABASE, "password": 22}, "config.password: must be text"),
    (SourceKind.POSTGRESQL, {**DATABASE, "password": "abc"}, "config.password: must have 4"),
    (SourceKind.POSTGRESQL, {**DATABASE, "password": "{{secret:a b}}"}, "config.password: a reference"),
    (SourceKind.POSTGRESQL, {**DATABASE, "options": {"a": 1}}, "config.options.a: must be text"),
    (SourceKind.SQLALCHEMY, {"url": "hunter22"}, "config.url: must be an address of SQLAlchemy"),
    (SourceKind.SQLALCHEMY, {"url": "sqlite:////etc/shadow"}, "config.url: is a file of the worker"),
    (SourceKind.SQLALCHEMY, {"url": "mysql://a:hunter22@{{secret:host}}/b"}, "config.url: has a password beside"),
    (SourceKind.REST, {"base_url": "https://a:hunter22@b/"}, "config.base_url: must not hold a user"),
    (SourceKind.REST, {"base_url": "https://b/?key=hunter22"}, "config.base_url: must not hold a query"),
    (SourceKind.REST, {"base_url": "ftp://b/"}, "config.base_url: must begin with http"),
    (SourceKind.REST, {"base_url": "https://b", "auth": {"type": "magic"}}, "config.auth.type: must be one of none"),
    (SourceKind.REST, {"base_url": "https://b", "auth": {"type": "bearer"}}, "config.auth.token: is required"),
    (SourceKind.REST, {"base_url": "https://b", "headers": {"authorization": "hunter22"}}, "config.headers.auth"),
    (SourceKind.REST, {"base_url": "https://b", "headers": {"a": "hunter22", "A": "b"}}, "config.headers: has a name"),
    (SourceKind.S3, {"bucket": "a", "access_key": "hunter22"}, "config: access_key and secret_key"),
    (SourceKind.SFTP, {"host": "a", "user": "b"}, "config: give password or private_key"),
    (SourceKind.GOOGLE_SHEETS, {"service_account": {"a": "hunter22"}}, "config.service_account: must be the JSON"),
    (SourceKind.GOOGLE_SHEETS, {"public": True, "service_account": ACCOUNT}, "config: give service_account or public"),
]


@pytest.mark.parametrize(("kind", "config", "message"), REFUSED, ids=[message for *_, message in REFUSED])
def test_what_is_wrong_is_refused_by_its_place_and_not_repeated(kind: SourceKind, config: Any, message: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        checked_config(kind, config)
    assert str(refused.value).startswith(message)
    assert "hunter22" not in str(refused.value)
    assert refused.value.value is None


@pytest.mark.parametrize("name", ["", "  ", "a\nb", "a" * 256, "17"])
def test_a_name_is_short_visible_and_no_number(name: str) -> None:
    with pytest.raises(InvalidInput, match=r"name: must"):
        check_source_name(name)
