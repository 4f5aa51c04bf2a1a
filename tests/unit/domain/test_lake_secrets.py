"""Which secrets a lake job names, wherever they stand in it, and what its program is told."""

import pytest

from waterclock.domain.errors import InvalidInput
from waterclock.domain.lake_secrets import check_lake_secrets, secret_arguments, secrets_of, with_secrets

TASK = {
    "git_url": "https://{{secret:user}}@host/x",
    "credentials": "git",
    "args": ["plain", "{{secret:user}}:{{secret:pass}}"],
    "query_info": {"query": "select 1", "outputs": [{"config": {"table_name": "{{secret:pass}}"}}]},
    "retries": 3,
}
VALUES = {"user": "ann", "pass": "hunter22", "git": "token"}


def test_all_of_them_are_found_and_replaced() -> None:
    assert secrets_of(TASK) == {"user", "pass", "git"}
    assert with_secrets(TASK, VALUES) == {
        "git_url": "https://ann@host/x",
        "credentials": "token",
        "args": ["plain", "ann:hunter22"],
        "query_info": {"query": "select 1", "outputs": [{"config": {"table_name": "hunter22"}}]},
        "retries": 3,
    }


def test_the_runs_of_a_job_refer_to_all_of_them() -> None:
    assert secret_arguments(TASK) == {"--secrets": "{{secret:git}} {{secret:pass}} {{secret:user}}"}
    assert secret_arguments({"code": "1"}) == {}


def test_credentials_that_are_no_name_are_what_they_are() -> None:
    task = {"credentials": "{{secret:user}}:{{secret:pass}}"}
    assert secrets_of(task) == {"user", "pass"}
    assert with_secrets(task, VALUES) == {"credentials": "ann:hunter22"}
    assert with_secrets({"credentials": None}, {}) == {"credentials": None}


def test_a_value_that_looks_like_a_reference_is_not_read_again() -> None:
    assert with_secrets({"args": ["{{secret:a}}"]}, {"a": "{{secret:b}}"}) == {"args": ["{{secret:b}}"]}


def test_a_reference_that_cannot_be_read_is_refused_by_its_place() -> None:
    with pytest.raises(InvalidInput) as refused:
        check_lake_secrets({"query_info": {"outputs": [{"type": "x"}, {"config": {"table": "{{secret:a b}}"}}]}})
    assert refused.value.field == "query_info.outputs[1].config.table"
    check_lake_secrets(TASK)
