"""Roles and owners."""

import itertools
from dataclasses import replace

import pytest

from waterclock.domain.access import RIGHTS, Caller, Right, Role
from waterclock.domain.errors import Forbidden


def caller(role: Role, user: str = "ann") -> Caller:
    return Caller(user=user, org_id=1, account="1" * 12, role=role, address="", request_id="")


def test_each_role_may_all_that_the_one_before_it_may() -> None:
    roles = [Role.VIEWER, Role.OPERATOR, Role.AUTHOR, Role.ADMIN]
    for less, more in itertools.pairwise(roles):
        assert RIGHTS[less] < RIGHTS[more]


def test_running_a_job_is_not_the_right_to_define_one() -> None:
    caller(Role.OPERATOR).needs(Right.RUN)
    with pytest.raises(Forbidden, match="operator"):
        caller(Role.OPERATOR).needs(Right.DEFINE)


def test_only_the_owner_or_an_admin_changes_an_object() -> None:
    caller(Role.AUTHOR).owns("job", "j", "ann")
    caller(Role.ADMIN, "root").owns("job", "j", "ann")
    with pytest.raises(Forbidden, match="belongs to 'ann'"):
        caller(Role.AUTHOR, "bob").owns("job", "j", "ann")


def test_a_member_changes_what_the_group_owns_with_any_key() -> None:
    ann = replace(caller(Role.AUTHOR), groups=frozenset({"etl", "reports"}))
    for each in (ann, replace(ann, group="reports")):
        each.owns("job", "j", "etl")
        each.owns("job", "j", "ann")
        with pytest.raises(Forbidden, match="belongs to 'other'"):
            each.owns("job", "j", "other")


def test_what_is_made_belongs_to_the_group_of_the_key_or_else_to_the_user() -> None:
    ann = replace(caller(Role.AUTHOR), groups=frozenset({"etl"}))
    assert (ann.owner, replace(ann, group="etl").owner) == ("ann", "etl")
