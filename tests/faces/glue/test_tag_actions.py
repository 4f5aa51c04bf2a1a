"""Tags through boto3: on what they stand, who changes them, and lists that look for them."""

from typing import Any

import pytest

from tests.faces.glue.calls import make_job, make_trigger, refused
from tests.faces.http.served import Account, Served
from waterclock.domain.access import Role

SOMEWHERE = {"S3Targets": [{"Path": "s3://bucket/"}]}


def arn(account: Account, kind: str, name: str, region: str = "us-east-1") -> str:
    return f"arn:aws:glue:{region}:{account.number}:{kind}/{name}"


def make_each(glue: Any) -> dict[str, str]:
    make_job(glue, Tags={"made": "with"})
    make_trigger(glue, Tags={"made": "with"})
    glue.create_workflow(Name="workflow", Tags={"made": "with"})
    glue.create_crawler(Name="crawler", Role="role", Targets=SOMEWHERE, Tags={"made": "with"})
    return {"job": "job", "trigger": "trigger", "workflow": "workflow", "crawler": "crawler"}


def test_jobs_triggers_workflows_and_crawlers_carry_tags(glue: Any, account: Account) -> None:
    for kind, name in make_each(glue).items():
        resource = arn(account, kind, name)
        assert glue.get_tags(ResourceArn=resource)["Tags"] == {"made": "with"}
        glue.tag_resource(ResourceArn=resource, TagsToAdd={"made": "later", "team": "물 💧"})
        assert glue.get_tags(ResourceArn=resource)["Tags"] == {"made": "later", "team": "물 💧"}
        glue.untag_resource(ResourceArn=resource, TagsToRemove=["made", "nothing"])
        assert glue.get_tags(ResourceArn=resource)["Tags"] == {"team": "물 💧"}


def test_the_region_is_no_matter_and_names_may_hold_slashes_and_colons(glue: Any, account: Account) -> None:
    make_job(glue, "a/b:c")
    glue.tag_resource(ResourceArn=arn(account, "job", "a/b:c", region="eu-central-1"), TagsToAdd={"k": "v"})
    assert glue.get_tags(ResourceArn=arn(account, "job", "a/b:c"))["Tags"] == {"k": "v"}


@pytest.mark.parametrize(
    "given",
    [
        "arn:aws:glue:us-east-1:123456789012:job",
        "arn:aws:glue:us-east-1:123456789012:job/",
        "arn:aws:glue:us-east-1:12345:job/a",
        "arn:aws:glue::123456789012:job/a",
        "arn:aws:glue:",
        "arn:aws:s3:::bucket",
        "job/a",
    ],
)
def test_a_malformed_arn_is_invalid_input(glue: Any, given: str) -> None:
    with refused("InvalidInputException", r"(?i)resourceArn"):
        glue.get_tags(ResourceArn=given)


def test_what_is_not_there_is_not_found_and_neither_is_anothers(glue: Any, account: Account, served: Served) -> None:
    make_job(glue)
    other = served.account()
    for resource in (
        arn(account, "job", "nothing"),
        arn(account, "workflow", "job"),
        arn(account, "database", "job"),
        arn(other, "job", "job"),
    ):
        with refused("EntityNotFoundException"):
            glue.get_tags(ResourceArn=resource)
        with refused("EntityNotFoundException"):
            glue.tag_resource(ResourceArn=resource, TagsToAdd={"k": "v"})
    with refused("EntityNotFoundException"):
        other.client().untag_resource(ResourceArn=arn(account, "job", "job"), TagsToRemove=["k"])


def test_only_the_owner_or_an_admin_changes_tags(account: Account) -> None:
    ann, bob = account.client(Role.AUTHOR, "ann"), account.client(Role.AUTHOR, "bob")
    for kind, name in make_each(ann).items():
        resource = arn(account, kind, name)
        with refused("AccessDeniedException", "'ann'"):
            bob.tag_resource(ResourceArn=resource, TagsToAdd={"k": "v"})
        with refused("AccessDeniedException", "'ann'"):
            bob.untag_resource(ResourceArn=resource, TagsToRemove=["made"])
        assert bob.get_tags(ResourceArn=resource)["Tags"] == {"made": "with"}
        account.client(Role.ADMIN).untag_resource(ResourceArn=resource, TagsToRemove=["made"])
        assert bob.get_tags(ResourceArn=resource)["Tags"] == {}


def test_fifty_tags_are_the_most(glue: Any, account: Account) -> None:
    make_job(glue, Tags={f"k{number}": "v" for number in range(50)})
    resource = arn(account, "job", "job")
    glue.tag_resource(ResourceArn=resource, TagsToAdd={"k0": "other"})
    with refused("InvalidInputException", "50 are the most"):
        glue.tag_resource(ResourceArn=resource, TagsToAdd={"one": "more"})
    assert len(glue.get_tags(ResourceArn=resource)["Tags"]) == 50


@pytest.mark.parametrize("tags", [{"k" * 129: "v"}, {"k": "v" * 257}])
def test_keys_and_values_have_the_bounds_of_the_model(glue: Any, account: Account, tags: dict[str, str]) -> None:
    make_job(glue)
    with refused("InvalidInputException", "tagsToAdd"):
        glue.tag_resource(ResourceArn=arn(account, "job", "job"), TagsToAdd=tags)


def test_lists_by_tag_have_full_pages(glue: Any) -> None:
    for number in range(9):
        team = {"Tags": {"team": "a", "n": str(number)}} if number % 3 else {}
        make_job(glue, f"job{number}", **team)
        make_trigger(glue, f"trigger{number}", jobs=(f"job{number % 2}",), **team)
    asked: dict[str, Any] = {"MaxResults": 2, "Tags": {"team": "a"}}
    for names, list_names, thing in (
        ("JobNames", glue.list_jobs, "job"),
        ("TriggerNames", glue.list_triggers, "trigger"),
    ):
        first = list_names(**asked)
        second = list_names(**asked, NextToken=first["NextToken"])
        third = list_names(**asked, NextToken=second["NextToken"])
        found = [page[names] for page in (first, second, third)]
        assert found == [[f"{thing}1", f"{thing}2"], [f"{thing}4", f"{thing}5"], [f"{thing}7", f"{thing}8"]]
        assert "NextToken" not in third
        assert list_names(Tags={"team": "a", "n": "4"})[names] == [f"{thing}4"]
        assert list_names(Tags={"team": "b"})[names] == []
        with refused("InvalidInputException", "NextToken"):
            list_names(Tags={"team": "a"}, NextToken="bm90IG9uZQ==")
    dependent = glue.list_triggers(DependentJobName="job1", Tags={"team": "a"})
    assert dependent["TriggerNames"] == ["trigger1", "trigger5", "trigger7"]
    with refused("EntityNotFoundException"):
        glue.list_triggers(DependentJobName="nothing", Tags={"team": "a"})
