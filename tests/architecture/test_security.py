"""Rules of RELIABILITY.md, section 4, that a machine can check: nothing stored or received is ever executed."""

import ast
import re
from typing import Final

import pytest

from tests.architecture.sources import Source, dotted, every_module, imported

UNSAFE_MODULES: Final = {"pickle", "cPickle", "marshal", "shelve", "dill", "cloudpickle", "jsonpickle"}
UNSAFE_CALLS: Final = {
    *("eval", "exec", "os.system", "os.popen", "yaml.load", "yaml.unsafe_load", "yaml.full_load"),
    *("ForkingPickler.loads", "ForkingPickler.load"),
    *("subprocess.getoutput", "subprocess.getstatusoutput", "asyncio.create_subprocess_shell"),
}
# Where it is what the module is for; each entry says why.
MAY: Final = {
    ("runners.warm", "exec"): "runs the job's own script, in a process of its own",
    ("runners.calling", "marshal"): "from a keeper to its own fork, through a pipe that nobody else has open",
    ("executors.worker", "ForkingPickler.loads"): "calls of the program itself, from the process that started this one",
    ("executors.worker_process", "ForkingPickler.loads"): "their results, from the child that made them",
    ("faces.library.unpickling", "pickle"): "reads APScheduler's rows, in a process that does nothing else",
    ("faces.library.serializers", "pickle"): "only for the job stores that a program opened with serializer='pickle'",
}
# Statements are text of ours; where one is put together, each line that does it says so.
MAY_WORD_SQL: Final = {
    "faces.cli.importing.apscheduler.reading": "a table that the caller names, quoted, only read",
    "runners.sql.clickhouse": "tables and columns that a job names, quoted: an old server has no parameters",
    "runners.sql.clickhouse_database": "the same, for what is asked about them",
    "runners.sql.clickhouse_upserting": "the same, for an upsert",
    "runners.sql.duckdb_file": "tables and columns that a job names, quoted",
    "runners.sql.mysql": "the same, and rows, whose texts are quoted for a session that knows no other escape",
    "runners.sql.rewriting": "columns that a job names, quoted, in a database of its own",
    "runners.sql.table_statements": "tables and columns that a job names, quoted",
    "runners.sync.database.wording": "what a sync reads of its owner's database: names quoted, in a read-only line",
    "stores.views": "views, from files of ours",
    "stores.views.schedulerdb": "views onto those, in the database of our own connection, whose name is quoted",
    "stores.mysql.compiling": "a named statement for many rows",
    "stores.postgres.compiling": "a named statement for many rows",
    "stores.postgres.partition_tables": "our own tables, days and numbers: a partition of any other name is left alone",
    "stores.postgres.partitioning": "our own tables",
    "stores.sqlite.session": "a named statement with a list",
    "stores.sqlite.migrating": "the numbers of our own migrations",
}


@every_module
def test_nothing_is_unpickled_evaluated_or_given_to_a_shell(source: Source) -> None:
    assert [found for found in unsafe(source.tree) if (source.name, found) not in MAY] == []


@every_module
def test_sql_is_put_together_only_from_our_own_text(source: Source) -> None:
    if source.name not in MAY_WORD_SQL:
        assert not re.search(r"noqa:.*S608", source.path.read_text())


def unsafe(tree: ast.Module) -> list[str]:
    found: list[str] = []
    for node in ast.walk(tree):
        found += [name for name in imported(node) if name.partition(".")[0] in UNSAFE_MODULES]
        if isinstance(node, ast.Call):
            found += [dotted(node.func)] if dotted(node.func) in UNSAFE_CALLS else []
            found += ["shell=" for keyword in node.keywords if keyword.arg == "shell" and not is_false(keyword.value)]
    return found


def is_false(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is False


@pytest.mark.parametrize(
    ("code", "verdict"),
    [
        ("import pickle", ["pickle"]),
        ("from pickle import loads", ["pickle.loads"]),
        ("subprocess.run(x, shell=True)", ["shell="]),
        ("subprocess.run(x, shell=False)", []),
        ("os.system(x)", ["os.system"]),
        ("re.compile(x)", []),
        ("yaml.safe_load(x)", []),
        ("eval(x)", ["eval"]),
    ],
)
def test_the_rule_itself(code: str, verdict: list[str]) -> None:
    assert unsafe(ast.parse(code)) == verdict
