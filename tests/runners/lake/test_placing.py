"""From a claim of a lake job to its program: what its order says, whose it is, and what a worker cannot do."""

import os
import pwd
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from waterclock.domain.claim import Claimed
from waterclock.domain.errors import CannotRun
from waterclock.domain.job import JobSpec
from waterclock.domain.lake import LakeKind, LakeTable, TableFormat
from waterclock.domain.run import Attempt, RunState
from waterclock.runners.lake import order as orders
from waterclock.runners.lake import program
from waterclock.runners.lake.order import Order
from waterclock.runners.lake.placing import LakePrograms
from waterclock.runners.lake.variables import pip_variables
from waterclock.runners.workspace import Workspaces

KEYS = {"endpoint": "http://s3", "region": "r", "access_key": "a", "secret_key": "b", "session_token": ""}


class Sql:
    def __init__(self) -> None:
        self.asked = 0

    async def ensure(self) -> str:
        self.asked += 1
        return "/run/sql.sock"


class Keys:
    def given(self) -> Mapping[str, str]:
        return KEYS


def claimed(kind: str = LakeKind.PYTHON, tables: tuple[LakeTable, ...] = ()) -> Claimed:
    names: dict[str, Any] = dict.fromkeys(Attempt.__dataclass_fields__)
    known: dict[str, Any] = {"id": 5, "fence": 2, "job_id": 13, "wire_id": "jr_5", "state": RunState.STARTING}
    attempt = Attempt(**{**names, **known, "arguments": {}, "settings": {}})
    return Claimed(attempt=attempt, spec=JobSpec(kind=kind, call={}), tables=tables)


@pytest.fixture
def workspaces(tmp_path: Path) -> Workspaces:
    return Workspaces(work_root=tmp_path / "work", log_root=tmp_path / "logs")


@pytest.fixture
def lake(tmp_path: Path) -> LakePrograms:
    return LakePrograms(
        cache=tmp_path / "cache",
        home=tmp_path / "lake",
        roots=("/srv/lake",),
        maven_settings="/etc/settings.xml",
        pip={"PIP_X": "1"},
        clickhouse={"url": "http://ch"},
        s3=Keys(),
        read_s3=lambda location: f"print({location!r})".encode(),
        sql=Sql(),
    )


async def placed(lake: LakePrograms, workspaces: Workspaces, each: Claimed, **task: Any) -> Order:
    built = await lake.placed(each, task, workspaces)
    script, path = built.argv
    assert (script, built.warm) == (program.__file__, True)
    assert path == str(workspaces.folder(5) / "order.json")
    return orders.read(path)


async def test_a_build_is_told_nothing_that_only_queries_need(
    lake: LakePrograms, workspaces: Workspaces, tmp_path: Path
) -> None:
    order = await placed(lake, workspaces, claimed(LakeKind.JAVA), git_url="x")
    assert (order.kind, order.job_id, order.run_id, order.attempt_id) == (LakeKind.JAVA, 13, "jr_5", 5)
    assert (order.task, order.roots) == ({"git_url": "x"}, ("/srv/lake", str(tmp_path / "lake")))
    assert (order.maven_settings, order.pip) == ("/etc/settings.xml", {"PIP_X": "1"})
    assert (order.s3, order.clickhouse, order.socket, order.tables) == ({}, {}, "", ())


async def test_a_query_gets_its_engine_its_tables_and_keys_where_it_names_a_bucket(
    lake: LakePrograms, workspaces: Workspaces
) -> None:
    abc = LakeTable(name="abc", format=TableFormat.CSV, path="/srv/lake/abc.csv")
    order = await placed(lake, workspaces, claimed(LakeKind.SQL, (abc,)), query_info={"query": "select 1"})
    assert (order.socket, order.tables, order.clickhouse) == ("/run/sql.sock", (abc,), {"url": "http://ch"})
    assert order.s3 == {}
    away = replace(abc, path="s3://bucket/abc")
    assert (await placed(lake, workspaces, claimed(LakeKind.SQL, (away,)))).s3 == KEYS
    output = {"outputs": [{"config": {"hdfs_uri": "s3://bucket"}}]}
    assert (await placed(lake, workspaces, claimed(LakeKind.SQL), query_info=output)).s3 == KEYS


async def test_a_script_in_a_bucket_is_read_by_the_worker(lake: LakePrograms, workspaces: Workspaces) -> None:
    order = await placed(lake, workspaces, claimed(), script="s3://bucket/job.py")
    script = workspaces.folder(5) / "script.py"
    assert (order.task["script"], order.roots[-1]) == (str(script), str(script.parent))
    assert (script.read_bytes(), order.s3) == (b"print('s3://bucket/job.py')", {})


async def test_a_worker_without_an_engine_says_so(workspaces: Workspaces, tmp_path: Path) -> None:
    bare = LakePrograms(cache=tmp_path / "cache", home=tmp_path / "lake")
    with pytest.raises(CannotRun, match="no engine for queries"):
        await bare.placed(claimed(LakeKind.SQL), {}, workspaces)
    with pytest.raises(CannotRun, match="cannot read scripts from s3"):
        await bare.placed(claimed(), {"script": "s3://b/x"}, workspaces)
    assert not workspaces.folder(5).exists()


async def test_an_order_is_for_the_user_that_programs_run_as(
    lake: LakePrograms, workspaces: Workspaces, tmp_path: Path
) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can run a program as another user")
    as_nobody = replace(workspaces, user="nobody")
    await placed(lake, as_nobody, claimed(), script="s3://bucket/job.py")
    uid = pwd.getpwnam("nobody").pw_uid
    folder = workspaces.folder(5)
    found = {path.name: (path.stat().st_uid, path.stat().st_mode & 0o777) for path in (folder, *folder.iterdir())}
    assert found["5"] == (uid, 0o700)
    assert found["order.json"] == (uid, 0o600)
    assert found["script.py"][0] == uid
    made = [(tmp_path / name).stat() for name in ("cache", "lake")]
    assert [(each.st_uid, each.st_mode & 0o777) for each in made] == [(uid, 0o700), (uid, 0o755)]


async def test_what_an_earlier_try_left_is_gone(lake: LakePrograms, workspaces: Workspaces) -> None:
    left = workspaces.make(5) / "report.json"
    left.write_text('{"reason": "of before"}')
    await placed(lake, workspaces, claimed(), code="1")
    assert not left.exists()


def test_pip_asks_where_the_workers_own_would(tmp_path: Path) -> None:
    environ = {"HOME": str(tmp_path), "PIP_INDEX": "here", "https_proxy": "p", "NO_PROXY": "", "AWS_SECRET": "x"}
    assert pip_variables(environ) == {"PIP_INDEX": "here", "https_proxy": "p"}
    config = tmp_path / ".config" / "pip" / "pip.conf"
    config.parent.mkdir(parents=True)
    config.touch()
    assert pip_variables(environ)["PIP_CONFIG_FILE"] == str(config)
    assert pip_variables({**environ, "PIP_CONFIG_FILE": "other"})["PIP_CONFIG_FILE"] == "other"
