"""Lake jobs as tests send them, and what they ask of the answers."""

from typing import Any

import httpx

JAVA: dict[str, Any] = {
    "class_name": "java_job",
    "display_name": "count words",
    "git_url": "https://example.org/count.git",
    "build_tool": "maven",
}
SQL: dict[str, Any] = {
    "class_name": "sql_job",
    "display_name": "orders of today",
    "query_info": {
        "query": "select * from abc",
        "outputs": [
            {
                "type": "text_file",
                "config": {"class_name": "hadoop_config", "hdfs_uri": "localhost:9000", "result_path": "/data/abc"},
            },
        ],
    },
}
PYTHON: dict[str, Any] = {"class_name": "python_job", "display_name": "hello", "code": "print('hello')"}
CLICKHOUSE: dict[str, Any] = {
    "type": "datainsider",
    "config": {
        "class_name": "clickhouse_config",
        "database": "test_db",
        "table_name": "product",
        "write_mode": "append",
    },
}
ONCE_LATER = {"class_name": "schedule_once", "start_time": 4_102_444_800_000}


def with_outputs(*outputs: Any) -> dict[str, Any]:
    return {**SQL, "query_info": {"query": "select 1", "outputs": list(outputs)}}


async def made(lake: httpx.AsyncClient, job: dict[str, Any] = PYTHON, **more: Any) -> Any:
    answer = await lake.post("/lake/job/create", json={"job": {**job, **more}})
    assert answer.status_code == 200, answer.text
    return answer.json()["job"]


async def started(lake: httpx.AsyncClient, job_id: int) -> int:
    answer = await lake.put(f"/lake/schedule/job/{job_id}/now", json={})
    assert answer.status_code == 200, answer.text
    assert answer.json()["success"] is True
    return int(answer.json()["run_id"])


def refused(answer: httpx.Response, status: int = 400, reason: str = "bad_request") -> str:
    """In the shape of the face, with this reason: its message."""
    told = answer.json()
    assert (answer.status_code, list(told), told["code"], told["reason"]) == (
        status,
        ["code", "reason", "message"],
        status,
        reason,
    ), answer.text
    return str(told["message"])
