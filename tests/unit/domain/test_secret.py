"""References to secrets: read, refused by name, resolved only where a program is built."""

import pytest

from waterclock.domain.errors import InvalidInput
from waterclock.domain.secret import (
    check_secret_name,
    check_secret_value,
    check_secrets,
    refers_to_secrets,
    resolve,
    secret_names,
)

ARGUMENTS = {
    "--url": "postgres://etl:{{secret:warehouse}}@db/{{secret:db.name}}",
    "--day": "today",
    "--secret-env": "DB_PASSWORD=warehouse, API_KEY=crm-2",
}


def test_a_reference_may_stand_anywhere_in_a_value() -> None:
    check_secrets(ARGUMENTS)
    assert refers_to_secrets(ARGUMENTS)
    assert secret_names(ARGUMENTS) == {"warehouse", "db.name", "crm-2"}


def test_references_are_resolved_to_arguments_and_variables() -> None:
    values = {"warehouse": "p{{secret:crm-2}}\\1w", "db.name": "lake", "crm-2": "key"}
    given = resolve(ARGUMENTS, values)
    assert given.arguments == {"--url": "postgres://etl:p{{secret:crm-2}}\\1w@db/lake", "--day": "today"}
    assert given.environment == {"DB_PASSWORD": "p{{secret:crm-2}}\\1w", "API_KEY": "key"}


def test_arguments_without_references_are_passed_over() -> None:
    plain = {"--day": "today", "--template": "{{day}} {secret:x}"}
    assert not refers_to_secrets(plain)
    assert secret_names(plain) == frozenset()
    check_secrets(plain)
    assert resolve(plain, {}).arguments == plain


@pytest.mark.parametrize("value", ["{{secret:}}", "{{secret:a b}}", "{{secret:a}", "{{secret:" + "a" * 129 + "}}"])
def test_a_reference_that_cannot_be_read_is_refused_by_its_argument(value: str) -> None:
    with pytest.raises(InvalidInput, match=r"^--url: a reference to a secret is \{\{secret:NAME\}\}"):
        check_secrets({"--url": f"x{value}y"})


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("", "VARIABLE=SECRET"),
        ("DB_PASSWORD", "VARIABLE=SECRET"),
        ("1X=warehouse", "VARIABLE=SECRET"),
        ("X=ware house", "VARIABLE=SECRET"),
        ("X=warehouse,", "VARIABLE=SECRET"),
        ("PATH=warehouse", "PATH is not yours"),
        ("WATERCLOCK_RUN_ID=warehouse", "WATERCLOCK_RUN_ID is not yours"),
        ("X=warehouse,X=crm", "X is given twice"),
    ],
)
def test_variables_that_cannot_be_given_are_refused(value: str, reason: str) -> None:
    with pytest.raises(InvalidInput, match=f"^--secret-env: .*{reason}"):
        check_secrets({"--secret-env": value})


def test_what_is_kept_and_repeated_by_others_takes_no_secret() -> None:
    with pytest.raises(InvalidInput, match=r"^--additional-python-modules: cannot refer to secrets"):
        check_secrets({"--additional-python-modules": "{{secret:index}}"})


def test_names_are_found_also_beside_what_is_wrong() -> None:
    assert secret_names({"--a": "{{secret:}}{{secret:good}}", "--secret-env": "X=fine,Y,=also"}) == {
        "good",
        "fine",
        "also",
    }


@pytest.mark.parametrize("name", ["a", "A.b_c-9", "x" * 128])
def test_a_good_name(name: str) -> None:
    check_secret_name(name)


@pytest.mark.parametrize("name", ["", "a b", "a/b", "é", "x" * 129, "a\n"])
def test_a_name_that_no_reference_could_spell_is_refused(name: str) -> None:
    with pytest.raises(InvalidInput, match=r"^name: "):
        check_secret_name(name)


@pytest.mark.parametrize("value", ["abcd", "é" * 2, "x" * 65_536, "a\nb\nc"])
def test_a_good_value(value: str) -> None:
    check_secret_value(value)


@pytest.mark.parametrize(
    "value", ["abc", "x" * 65_537, "ab\0cd", "\n\n \n\n", "ab\N{REPLACEMENT CHARACTER}cd", "abc" + chr(0xDC80)]
)
def test_a_bad_value_is_refused_without_being_repeated(value: str) -> None:
    with pytest.raises(InvalidInput, match=r"^value: ") as refused:
        check_secret_value(value)
    assert refused.value.value is None
    assert value not in str(refused.value)
