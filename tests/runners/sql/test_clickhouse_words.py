"""What is said to ClickHouse and what it says, without a server: names, types, columns, complaints."""

import pytest

from waterclock.runners.sql.clickhouse_columns import Column, matched
from waterclock.runners.sql.clickhouse_server import Server, complaint, identifier, literal
from waterclock.runners.sql.clickhouse_types import Kind, kind_of
from waterclock.runners.sql.outputs import OutputFailed

TABLE = [
    Column(name="id", type="UInt64"),
    Column(name="name", type="Nullable(String)"),
    Column(name="made", type="DateTime", default="DEFAULT"),
    Column(name="day", type="Date", default="MATERIALIZED"),
]


@pytest.mark.parametrize(
    ("name", "quoted"),
    [("product", "`product`"), ("a`; DROP TABLE b", "`a\\`; DROP TABLE b`"), ("a\\`b", "`a\\\\\\`b`")],
)
def test_a_name_stays_one_name_whatever_it_holds(name: str, quoted: str) -> None:
    assert identifier(name) == quoted


def test_a_text_stays_one_text() -> None:
    assert literal("it's \\ here") == "'it\\'s \\\\ here'"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("UInt8", Kind(name="UInt8")),
        ("Nullable(Decimal(10, 2))", Kind(name="Decimal", arguments=("10", "2"), nullable=True)),
        ("LowCardinality(Nullable(String))", Kind(name="String", nullable=True)),
        ("DateTime64(6, 'Asia/Seoul')", Kind(name="DateTime64", arguments=("6", "'Asia/Seoul'"))),
        ("Array(Nullable(Int64))", Kind(name="Array", arguments=("Nullable(Int64)",))),
        ("Enum8('a,b' = 1, 'c\\')' = 2)", Kind(name="Enum8", arguments=("'a,b' = 1", "'c\\')' = 2"))),
        ("Tuple(a String, b Array(UInt8))", Kind(name="Tuple", arguments=("a String", "b Array(UInt8)"))),
    ],
)
def test_a_servers_types_are_read(text: str, kind: Kind) -> None:
    assert kind_of(text) == kind


def test_the_elements_of_an_array_have_a_kind_of_their_own() -> None:
    assert kind_of("Array(Array(Nullable(Int64)))").inner.inner == Kind(name="Int64", nullable=True)


def test_columns_are_matched_by_name_in_the_querys_order() -> None:
    assert [column.name for column in matched(["name", "id"], TABLE, "db.t")] == ["name", "id"]
    assert [column.name for column in matched(["made", "id", "name"], TABLE, "db.t")] == ["made", "id", "name"]


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (["id", "name", "price"], "db.t has no column price: it has id, made, name"),
        (["id", "name", "day"], "has no column day"),  # it is made by the server
        (["id"], "does not give: name"),
        (["id", "name", "id"], "more than one column id"),
        (["id", ""], "without a name"),
    ],
)
def test_columns_that_do_not_match_are_named(names: list[str], words: str) -> None:
    with pytest.raises(OutputFailed, match=words):
        matched(names, TABLE, "db.t")


@pytest.mark.parametrize(
    ("said", "code", "words"),
    [
        (
            "Code: 60, e.displayText() = DB::Exception: Table default.x doesn't exist., e.what() = DB::Exception\n",
            60,
            "Table default.x doesn't exist.",
        ),
        (
            "Code: 60. DB::Exception: Table a.b does not exist. (UNKNOWN_TABLE) (version 25.8.1.1 (official build))\n",
            60,
            "Table a.b does not exist. (UNKNOWN_TABLE)",
        ),
        ("nothing that it usually says", 0, "nothing that it usually says"),
    ],
)
def test_a_complaint_is_its_words_without_what_surrounds_them(said: str, code: int, words: str) -> None:
    assert complaint(said) == (code, words)


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("", "clickhouse.url"),
        ("host:8123", "no address"),
        ("ftp://host", "no address"),
        ("http://user:secret@host:8123", "clickhouse.password"),
    ],
)
def test_an_address_that_is_none_names_the_setting(url: str, words: str) -> None:
    with pytest.raises(OutputFailed, match=words) as refusal:
        Server({"url": url}, about="db.t")
    assert "secret" not in str(refusal.value)


def test_a_server_that_is_down_is_named() -> None:
    with pytest.raises(OutputFailed, match=r"http://127.0.0.1:1 db\.t: it cannot be reached.*clickhouse\.url"):
        Server({"url": "http://127.0.0.1:1", "password": "secret"}, about="db.t").ask("SELECT 1")
