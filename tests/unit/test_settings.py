"""File, environment, flags: the later wins, and what is wrong is named."""

from pathlib import Path

import pytest

from waterclock.domain.errors import InvalidInput
from waterclock.settings import Settings, load


def test_the_later_source_wins(tmp_path: Path) -> None:
    (tmp_path / "waterclock.toml").write_text('port = 1\nhost = "localhost"\n[glue]\nrules = "aws"\n')
    assert load({}, {}, tmp_path).port == 1
    assert load({}, {"WATERCLOCK_PORT": "2"}, tmp_path).port == 2
    loaded = load({"port": 3, "host": None}, {"WATERCLOCK_PORT": "2"}, tmp_path)
    assert (loaded.port, loaded.host, loaded.rules.name) == (3, "localhost", "aws")


def test_dotted_names_tables_and_lists(tmp_path: Path) -> None:
    (tmp_path / "waterclock.toml").write_text(
        'callables = ["m:f"]\n[worker]\nslots = 3\nqueues = ["a", "b"]\n[interpreters]\noctave = "octave"\n'
    )
    loaded = load({}, {}, tmp_path)
    assert (loaded.worker_slots, loaded.worker_queues, loaded.callables) == (3, ("a", "b"), ("m:f",))
    assert loaded.interpreters == {"octave": "octave"}


def test_a_child_process_reads_back_what_its_parent_has(tmp_path: Path) -> None:
    given = Settings(data_dir=tmp_path, port=7, worker_queues=("a", "b"), interpreters={"r": "Rscript"}, db="sqlite://")
    assert load({}, given.to_environ(), tmp_path) == given


@pytest.mark.parametrize(
    ("environment", "reason"),
    [
        ({"WATERCLOCK_API_PROCESSES": "0"}, "api.processes: must be 1 to 64"),
        ({"WATERCLOCK_PORT": "many"}, "port: 'many' does not fit"),
        ({"WATERCLOCK_PORT": "70000"}, "port: must be 0 to 65535"),
        ({"WATERCLOCK_GLUE_RULES": "loose"}, "glue.rules: must be one of 'guarded', 'aws'"),
        (
            {"WATERCLOCK_CHAINS_JOBFOLDER": "https://host/jobs"},
            "chains.jobfolder: must be a folder of the worker's, or",
        ),
        ({"WATERCLOCK_CHAINS_DEPFOLDER": "s3:///prefix"}, "chains.depfolder: must be a folder of the worker's, or s3:"),
        (
            {"WATERCLOCK_LOGS_STORE": "gs://bucket"},
            "logs.store: must be a folder that all nodes share, or s3://bucket/",
        ),
        ({"WATERCLOCK_AUTH": "none", "WATERCLOCK_HOST": "0.0.0.0"}, "refused on 0.0.0.0"),
        ({"WATERCLOCK_WORKER_SLOTS": "0"}, "worker.slots: must be more than 0"),
        ({"WATERCLOCK_WORKER_LABELS": "gpu,big memory"}, "worker.labels: 'big memory': a label has 1 to 63 of letters"),
        ({"WATERCLOCK_WORKER_LABELS": "a,b,c,d,e,f,g,h,i"}, "worker.labels: must be at most 8 labels, not 9"),
        ({"WATERCLOCK_WORKER_MEMORY_MB": "-1"}, "worker.memory_mb: must be 0 to"),
        ({"WATERCLOCK_CHAINS_KEEP_DAYS": "noise=7,old=-1"}, "chains.keep_days: old: must be 0 days or more"),
        ({"WATERCLOCK_CHAINS_KEEP_DAYS": "noise=week"}, "chains.keep_days: 'noise=week' does not fit"),
    ],
)
def test_a_wrong_setting_is_named(environment: dict[str, str], reason: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=reason):
        load({}, environment, tmp_path)


@pytest.mark.parametrize(
    ("given", "is_remote"),
    [
        ({"server": "http://host", "token": "t"}, True),
        ({"server": "http://host", "token_file": "f"}, True),
        ({"server": "http://host"}, False),  # for the command line: no worker is meant
        ({"server": "http://host", "token": "t", "db": "postgresql://host/db"}, False),
        ({"token": "t"}, False),
    ],
)
def test_a_worker_works_for_a_server_only_where_it_is_given_one_and_a_token(
    given: dict[str, str], is_remote: bool, tmp_path: Path
) -> None:
    environment = {f"WATERCLOCK_{name.upper()}": value for name, value in given.items()}
    assert load({}, environment, tmp_path).is_remote is is_remote


def test_an_unknown_setting_in_the_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "waterclock.toml").write_text("[glue]\nrulez = 1\n")
    with pytest.raises(InvalidInput, match=r"unknown setting 'glue.rulez'"):
        load({}, {}, tmp_path)
    (tmp_path / "waterclock.toml").write_text("not toml")
    with pytest.raises(InvalidInput, match="is not TOML"):
        load({}, {}, tmp_path)


def test_a_token_file_that_is_named_later_stands_for_an_earlier_token_and_the_other_way_round(tmp_path: Path) -> None:
    by_flag = load({"token_file": "file"}, {"WATERCLOCK_TOKEN": "t"}, tmp_path)
    assert (by_flag.token, by_flag.token_file) == ("", "file")
    (tmp_path / "waterclock.toml").write_text('token_file = "file"\n')
    by_environment = load({}, {"WATERCLOCK_TOKEN": "t"}, tmp_path)
    assert (by_environment.token, by_environment.token_file) == ("t", "")
