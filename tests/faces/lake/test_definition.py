"""Lake jobs as they are sent: both shapes are read, the seed's is kept; what is wrong is refused with its place."""

from typing import Any

import pytest

from tests.faces.lake.samples import CLICKHOUSE, JAVA, PYTHON, SQL, with_outputs
from waterclock.domain.errors import InvalidInput
from waterclock.domain.lake import LakeDraft
from waterclock.domain.schedule import Once
from waterclock.faces.lake.definition import draft_of
from waterclock.faces.lake.fields import read_known

NOW = 1_700_000_000_000_000
HADOOP = SQL["query_info"]["outputs"][0]["config"]


def draft(job: object) -> LakeDraft:
    return draft_of(job, timezone="UTC", now=NOW)


def kept(job: dict[str, Any]) -> dict[str, Any]:
    """All but what every one of these has."""
    definition = dict(draft(job).definition)
    return {name: definition[name] for name in definition if name not in ("class_name", "display_name", "job_type")}


def test_what_is_kept_is_in_the_order_of_the_seed_and_no_more_than_was_said() -> None:
    job = {"retries": 2, "args": ["a"], "build_tool": "sbt", "job_type": "J", **JAVA, "branch": "main", "nobody": 1}
    found = draft({**job, "last_run_time": 100, "schedule_time": {"start_time": 0, "class_name": "schedule_once"}})
    assert list(found.definition) == [
        *("class_name", "display_name", "job_type", "last_run_time", "schedule_time"),
        *("git_url", "branch", "build_tool", "args", "retries"),
    ]
    assert list(found.task) == ["git_url", "branch", "build_tool", "args"]
    assert found.schedule_time == {"class_name": "schedule_once", "start_time": 0}
    assert isinstance(found.schedule, Once)
    assert (found.retries, found.timeout_seconds, found.queue, found.labels) == (2, None, "default", ())


def test_a_job_without_a_schedule_runs_only_by_hand() -> None:
    found = draft(PYTHON)
    assert (found.schedule_time, found.schedule, found.every_minutes) == ({"class_name": "none_schedule"}, None, None)
    assert found.job_type == "Python"


def test_a_number_that_is_whole_in_json_is_whole_here() -> None:
    given = {"class_name": "schedule_hourly", "recur_every": 2.0, "start_time": 0.0}
    found = draft({**PYTHON, "retries": 1.0, "last_run_time": 100.0, "schedule_time": given})
    assert (found.retries, found.definition["last_run_time"], found.every_minutes) == (1, 100, 120)


def test_the_distance_of_a_schedule_is_kept_in_minutes() -> None:
    found = draft({**PYTHON, "schedule_time": {"class_name": "schedule_hourly", "recur_every": 2}})
    assert found.every_minutes == 120


def test_options_of_the_engine_are_taken() -> None:
    found = draft({**PYTHON, "timeout_seconds": 60, "queue": "heavy", "labels": ["gpu", "gpu"], "retries": 1})
    assert (found.timeout_seconds, found.queue, found.labels, found.retries) == (60, "heavy", ("gpu",), 1)


LATER_JAVA: dict[str, Any] = {
    "class_name": "java_job",
    "name": "count words",
    "last_run_status": "Initialized",
    "current_job_status": "Initialized",
    "yarn_app_id": "",
    "build_tool": "Maven",
    "build_cmd": "",
    "main_class": "",
    "args": "--in 'a b' c",
}


@pytest.mark.parametrize(
    ("clone", "seeds"),
    [
        (
            {"class_name": "http_clone_info", "url": "https://example.org/x.git", "username": "", "password": ""},
            {"git_url": "https://example.org/x.git"},
        ),
        (
            {"url": "https://example.org/x.git", "username": "b@b", "password": "{{secret:GIT}}", "branch": "dev"},
            {"git_url": "https://b%40b@example.org/x.git", "branch": "dev", "credentials": "GIT"},
        ),
        (
            {"class_name": "ssh_clone_info", "url": "git@example.org:x.git", "private_key": "{{secret:KEY}}"},
            {"git_url": "git@example.org:x.git", "credentials": "KEY"},
        ),
        ({"url": "https://example.org/x.git", "username": "bob"}, {"git_url": "https://example.org/x.git"}),
        ({"url": "abcd", "username": "bob", "password": "{{secret:P}}"}, {"git_url": "abcd", "credentials": "P"}),
    ],
)
def test_a_java_job_in_the_later_shape(clone: dict[str, Any], seeds: dict[str, Any]) -> None:
    found = draft({**LATER_JAVA, "git_clone_info": clone})
    assert found.display_name == "count words"
    assert found.task == {**seeds, "build_tool": "maven", "args": ("--in", "a b", "c")}


def test_a_sql_job_in_the_later_shape() -> None:
    job = {"class_name": "sql_job", "name": "orders", "query": "select 1"}
    outputs = [
        {"class_name": "hadoop_result_output", "result_path": "hdfs://nn:9000/data/abc", "write_mode": "Append"},
        {"class_name": "hadoop_result_output", "result_path": "/data/abc", "hdfs_uri": "nn:9000"},
        {"class_name": "clickhouse_result_output", "database_name": "d", "table_name": "t", "write_mode": "Replace"},
        CLICKHOUSE,
    ]
    hadoop = {"class_name": "hadoop_config"}
    clickhouse = {"class_name": "clickhouse_config", "database": "d", "table_name": "t", "write_mode": "replace"}
    assert kept({**job, "outputs": outputs})["query_info"] == {
        "query": "select 1",
        "outputs": (
            {
                "type": "text_file",
                "config": {**hadoop, "hdfs_uri": "hdfs://nn:9000/", "result_path": "/data/abc", "write_mode": "append"},
            },
            {"type": "text_file", "config": {**hadoop, "hdfs_uri": "nn:9000", "result_path": "/data/abc"}},
            {"type": "datainsider", "config": clickhouse},
            CLICKHOUSE,
        ),
    }
    assert kept(job)["query_info"] == {"query": "select 1", "outputs": ()}


def test_where_both_shapes_are_sent_the_seeds_is_read() -> None:
    both = {**SQL, "name": "other", "query": "select 2", "outputs": []}
    assert draft(both) == draft(SQL)
    java = {**JAVA, "git_clone_info": {"url": "elsewhere"}}
    assert draft(java).task["git_url"] == JAVA["git_url"]


def test_the_options_of_files_are_kept() -> None:
    config = {**HADOOP, "write_mode": "append", "separator": "\\t", "header": True}
    (found,) = kept(with_outputs({"type": "text_file", "config": config}))["query_info"]["outputs"]
    assert found == {"type": "text_file", "config": config}


def test_urls_are_not_judged_here() -> None:
    for url in ("abcd", "ext::sh -c x", "-x", "http://10.0.0.1/x"):
        assert draft({**JAVA, "git_url": url}).task["git_url"] == url


WRONG: list[tuple[Any, str, str]] = [
    (7, "job", "must be a JSON object"),
    ([], "job", "must be a JSON object"),
    ({}, "job.class_name", "is required"),
    ({**PYTHON, "class_name": "cobol_job"}, "job.class_name", "must be one of java_job, sql_job, python_job"),
    ({**PYTHON, "class_name": ["python_job"]}, "job.class_name", "must be one of"),
    ({**PYTHON, "display_name": None}, "job.display_name", "is required"),
    ({**PYTHON, "display_name": "x" * 256}, "job.display_name", "must have 1 to 255 characters"),
    ({**PYTHON, "display_name": "a\0b"}, "job.display_name", "cannot hold a NUL"),
    ({**PYTHON, "job_type": 5}, "job.job_type", "must be text"),
    ({**PYTHON, "last_run_time": -1}, "job.last_run_time", "must be a whole number"),
    ({**PYTHON, "last_run_time": 1.5}, "job.last_run_time", "must be a whole number"),
    ({**PYTHON, "code": ""}, "job.code", "is required, or one of script, git_url"),
    ({**PYTHON, "git_url": "x"}, "job.git_url", "cannot be given together with code"),
    ({**PYTHON, "entrypoint": "x.py"}, "job.entrypoint", "it goes with git_url"),
    ({**PYTHON, "args": [1]}, "job.args[0]", "must be text"),
    ({**PYTHON, "args": "a 'b"}, "job.args", "No closing quotation"),
    ({**PYTHON, "requirements": {"a": 1}}, "job.requirements", "must be a list"),
    ({**PYTHON, "retries": 11}, "job.retries", "must be a whole number, 0 to 10"),
    ({**PYTHON, "timeout_seconds": 0}, "job.timeout_seconds", "must be a whole number, 1 to"),
    ({**PYTHON, "queue": "a,b"}, "job.queue", "without a comma"),
    ({**PYTHON, "labels": ["a b c!"]}, "job.labels[0]", ""),
    ({**PYTHON, "code": "x = '{{secret:}}'"}, "job.code", "a reference to a secret is"),
    ({**JAVA, "git_url": None}, "job.git_url", "is required"),
    ({**JAVA, "git_url": ""}, "job.git_url", "is required"),
    ({**JAVA, "build_tool": "ant"}, "job.build_tool", "must be one of maven, sbt, gradle, none"),
    ({**JAVA, "credentials": "hunter 2"}, "job.credentials", "must be the name of a secret"),
    ({**JAVA, "git_clone_info": {}}, "job.git_clone_info.url", "is required"),
    ({**JAVA, "git_clone_info": {"url": "x", "password": "hunter2"}}, "job.git_clone_info.password", "in the open"),
    ({**JAVA, "git_clone_info": {"url": "x", "private_key": "-----"}}, "job.git_clone_info.private_key", "in the open"),
    ({**SQL, "query_info": None}, "job.query_info", "is required"),
    ({**SQL, "query_info": {}}, "job.query_info.query", "is required"),
    ({**SQL, "query_info": {"query": ""}}, "job.query_info.query", "must have 1 to"),
    ({**SQL, "query_info": "select 1"}, "job.query_info", "must be a JSON object"),
    (with_outputs("hdfs"), "job.query_info.outputs[0]", "must be a JSON object"),
    (with_outputs({}), "job.query_info.outputs[0].type", "must be one of text_file, parquet, datainsider"),
    (with_outputs(CLICKHOUSE, {"type": "tape"}), "job.query_info.outputs[1].type", "must be one of text_file"),
    (with_outputs({"class_name": ["x"]}), "job.query_info.outputs[0].type", "must be one of text_file"),
    (with_outputs({"type": "text_file"}), "job.query_info.outputs[0].config", "must be a JSON object"),
    (
        with_outputs({"type": "text_file", "config": {**HADOOP, "result_path": None}}),
        "job.query_info.outputs[0].config.result_path",
        "is required",
    ),
    (
        with_outputs({"type": "text_file", "config": {**HADOOP, "hdfs_uri": None}}),
        "job.query_info.outputs[0].config.hdfs_uri",
        "is required",
    ),
    (
        with_outputs({"type": "text_file", "config": {**HADOOP, "separator": '"'}}),
        "job.query_info.outputs[0].config.separator",
        "neither a quote nor a backslash",
    ),
    (
        with_outputs({"type": "text_file", "config": {**HADOOP, "header": "yes"}}),
        "job.query_info.outputs[0].config.header",
        "must be true or false",
    ),
    (
        with_outputs({"type": "datainsider", "config": HADOOP}),
        "job.query_info.outputs[0].config.database",
        "is required",
    ),
    (
        with_outputs({"type": "text_file", "config": {**HADOOP, "class_name": "clickhouse_config"}}),
        "job.query_info.outputs[0].config.class_name",
        "must be hadoop_config where the type is text_file",
    ),
    (
        with_outputs({**CLICKHOUSE, "config": {**CLICKHOUSE["config"], "write_mode": "merge"}}),
        "job.query_info.outputs[0].config.write_mode",
        "must be one of append, replace",
    ),
    (
        with_outputs({"class_name": "clickhouse_result_output", "table_name": "t"}),
        "job.query_info.outputs[0].database_name",
        "is required",
    ),
    ({**PYTHON, "schedule_time": "daily"}, "job.schedule_time", "must be a JSON object"),
    ({**PYTHON, "schedule_time": {}}, "job.schedule_time.class_name", "is required"),
    ({**PYTHON, "schedule_time": {"class_name": "schedule_once"}}, "job.schedule_time.start_time", "is required"),
    (
        {**PYTHON, "schedule_time": {"class_name": "schedule_once", "start_time": [0]}},
        "job.schedule_time.start_time",
        "must be a whole number",
    ),
    (
        {
            **PYTHON,
            "schedule_time": {"class_name": "schedule_weekly", "recur_every": 1, "at_hour": 3, "include_days": []},
        },
        "job.schedule_time.include_days",
        "at least one day",
    ),
    (
        {**PYTHON, "schedule_time": {"class_name": "schedule_once", "start_time": 0, "timezone": "Mars/Olympus"}},
        "job.schedule_time.timezone",
        "no such time zone",
    ),
    (
        {**PYTHON, "schedule_time": {"class_name": "schedule_cron", "expression": "61 * * * *"}},
        "job.schedule_time.expression",
        "61",
    ),
    (
        {**PYTHON, "schedule_time": {"class_name": "none_schedule", "include_days": [1] * 101}},
        "job.schedule_time.include_days",
        "must be a list of 0 to 100",
    ),
]


@pytest.mark.parametrize(("job", "field", "reason"), WRONG, ids=[f"{field} {why}"[:60] for _, field, why in WRONG])
def test_what_is_wrong_is_named_with_its_place(job: Any, field: str, reason: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        draft(job)
    assert caught.value.field == field
    assert reason in caught.value.reason
    assert "hunter" not in str(caught.value)


def test_unknown_fields_are_passed_over_at_every_depth() -> None:
    output = {"type": "datainsider", "config": {**CLICKHOUSE["config"], "shards": 3}, "more": 1}
    job = {**with_outputs(output), "more": {}, "schedule_time": {"class_name": "none_schedule", "more": {"a": []}}}
    assert draft(job) == draft(with_outputs(CLICKHOUSE))
    assert read_known({"a": 1}, {}) == {}
