"""Crawlers through boto3: kept, shown, deleted, never run."""

import sqlite3
from contextlib import closing
from typing import Any

import pytest

from tests.faces.glue.calls import make_job, make_trigger, refused, states_of
from tests.faces.http.served import Account, Served
from waterclock.domain.access import Role
from waterclock.faces.glue.model import EXTRA, declared_errors, input_shape, shape

TARGETS = {"S3Targets": [{"Path": "s3://bucket/", "Exclusions": ["*.tmp"]}], "JdbcTargets": []}


def make_crawler(glue: Any, name: str = "crawler", **more: Any) -> None:
    glue.create_crawler(**{"Name": name, "Role": "role", "Targets": TARGETS, **more})


def test_a_crawler_is_shown_as_it_was_made_with_what_aws_adds(glue: Any) -> None:
    given: dict[str, Any] = {
        "DatabaseName": "lake",
        "Description": "nightly 💧",
        "TablePrefix": "raw_",
        "Configuration": '{"Version": 1.0}',
        "SchemaChangePolicy": {"UpdateBehavior": "LOG", "DeleteBehavior": "LOG"},
    }
    make_crawler(glue, Schedule="cron(15 12 * * ? *)", Tags={"team": "a"}, **given)
    crawler = glue.get_crawler(Name="crawler")["Crawler"]
    assert {name: crawler[name] for name in given} == given
    assert (crawler["Name"], crawler["Role"], crawler["Targets"]) == ("crawler", "role", TARGETS)
    assert crawler["Schedule"] == {"ScheduleExpression": "cron(15 12 * * ? *)", "State": "SCHEDULED"}
    assert (crawler["State"], crawler["Version"], crawler["CrawlElapsedTime"]) == ("READY", 1, 0)
    assert crawler["CreationTime"] == crawler["LastUpdated"]
    assert crawler["RecrawlPolicy"] == {"RecrawlBehavior": "CRAWL_EVERYTHING"}
    assert "Tags" not in crawler


def test_a_crawler_without_a_schedule_shows_none(glue: Any) -> None:
    make_crawler(glue)
    assert "Schedule" not in glue.get_crawler(Name="crawler")["Crawler"]


def test_a_name_is_taken_once_and_is_free_again_when_deleted(glue: Any) -> None:
    make_crawler(glue)
    with refused("AlreadyExistsException", "crawler"):
        make_crawler(glue)
    glue.delete_crawler(Name="crawler")
    for call in (glue.get_crawler, glue.delete_crawler):
        with refused("EntityNotFoundException", "Crawler crawler not found"):
            call(Name="crawler")
    make_crawler(glue)


def test_only_the_owner_or_an_admin_deletes_a_crawler_and_other_accounts_see_none(
    account: Account, served: Served
) -> None:
    make_crawler(account.client(Role.AUTHOR, "ann"))
    with refused("AccessDeniedException", "'ann'"):
        account.client(Role.AUTHOR, "bob").delete_crawler(Name="crawler")
    with refused("EntityNotFoundException"):
        served.account().client(Role.ADMIN).get_crawler(Name="crawler")
    account.client(Role.ADMIN).delete_crawler(Name="crawler")


@pytest.mark.parametrize(
    ("more", "match"),
    [
        ({"Name": "a\nb"}, "name"),
        ({"Name": "x" * 256}, "name"),
        ({"Schedule": "cron(60 * * * ? *)"}, "Schedule"),
        ({"Schedule": "nightly"}, "Schedule"),
        ({"RecrawlPolicy": {"RecrawlBehavior": "SOMETIMES"}}, "recrawlPolicy"),
        ({"Tags": {"k": "v" * 257}}, "tags"),
    ],
)
def test_what_the_model_or_a_schedule_forbids_is_invalid_input(glue: Any, more: dict[str, Any], match: str) -> None:
    with refused("InvalidInputException", match):
        make_crawler(glue, **more)


def test_crawlers_are_listed_in_pages_and_by_tag(glue: Any, served: Served) -> None:
    for name in ("c", "a", "b"):
        make_crawler(glue, name, Tags={"name": name, "team": "x"})
    first = glue.get_crawlers(MaxResults=2)
    rest = glue.get_crawlers(NextToken=first["NextToken"])
    assert [crawler["Name"] for crawler in first["Crawlers"] + rest["Crawlers"]] == ["a", "b", "c"]
    assert "NextToken" not in rest
    assert glue.list_crawlers(NextToken=first["NextToken"])["CrawlerNames"] == ["c"]
    assert glue.list_crawlers(Tags={"name": "b", "team": "x"})["CrawlerNames"] == ["b"]
    batch = glue.batch_get_crawlers(CrawlerNames=["c", "none", "a"])
    assert [crawler["Name"] for crawler in batch["Crawlers"]] == ["c", "a"]
    assert batch["CrawlersNotFound"] == ["none"]
    elsewhere = served.account().client(Role.ADMIN)
    assert elsewhere.list_crawlers()["CrawlerNames"] == elsewhere.get_crawlers()["Crawlers"] == []


def test_the_actions_have_models_and_their_errors_are_declared() -> None:
    for action in EXTRA:
        assert shape(input_shape(action))["type"] == "structure"
    assert {"AlreadyExistsException", "InvalidInputException"} <= declared_errors("CreateCrawler")
    assert "EntityNotFoundException" in declared_errors("GetCrawler") & declared_errors("DeleteCrawler")


@pytest.mark.parametrize("exists", [True, False])
def test_a_fire_that_reaches_a_crawler_records_that_it_was_skipped_and_why(
    glue: Any, account: Account, exists: bool
) -> None:
    make_job(glue)
    if exists:
        make_crawler(glue)
    make_trigger(glue, Actions=[{"CrawlerName": "crawler"}, {"JobName": "job"}])
    glue.start_trigger(Name="trigger")
    assert states_of(glue) == ["STARTING"]
    with closing(sqlite3.connect(account.served.path)) as store:
        asked = "SELECT action_no, state, message FROM runs WHERE org_id = ? ORDER BY action_no"
        (skipped, started) = store.execute(asked, [account.org_id]).fetchall()
    assert skipped == (0, "SKIPPED", "crawler 'crawler' is kept but never run here")
    assert started[:2] == (1, "STARTING")
