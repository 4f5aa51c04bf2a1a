"""Chains in YAML: what is read, what is written, and where each fault is. No server."""

from typing import Any

import pytest

from waterclock.faces.cli.chain import yaml_file
from waterclock.faces.cli.chain.comparing import Verdict, compare, diff_lines
from waterclock.faces.cli.chain.fields import CHAIN, normal
from waterclock.faces.cli.chain.yaml_file import read_chains
from waterclock.faces.cli.chain.yaml_text import MOST_CHARACTERS
from waterclock.faces.cli.chain.yaml_writing import export_yaml

ONE = """\
job_desc: nightly load
timestr: 0 2 * * *
switch: on
main_flag: yes
BKP_flag: 1
parallel: no
tag: 007
subtag: off
dep_ot: 1.5
deps:
- {desc: 3, command: a/ready.py;x, ottime: 1}
jobs:
- command: a/load.py
  step_lvl: 1
  ottime: '30'
"""
JOBS = "jobs: [{command: a.py, step_lvl: 1, ottime: 1}]"


def read(text: str) -> list[dict[str, Any]]:
    found, faults = read_chains(text, "load.yaml")
    assert faults == []
    return [dict(each.body) for each in found]


def faults(text: str) -> list[str]:
    found, wrong = read_chains(text, "load.yaml")
    assert found == []
    return [str(fault) for fault in wrong]


def stored(number: int, **more: Any) -> dict[str, Any]:
    """As the server shows it."""
    body = normal({"job_desc": "nightly load", "timestr": "0 2 * * *", "timezone": "UTC", **more})
    parts = {name: [{**part, "id": 7, "usual_seconds": None} for part in body[name]] for name in ("deps", "jobs")}
    return {**body, **parts, "id": number, "problem": None, "total_stpes": 1}


def test_a_value_is_read_as_what_its_field_is() -> None:
    (found,) = read(ONE)
    assert (found["timestr"], found["switch"], found["main_flag"], found["BKP_flag"]) == ("0 2 * * *", "ON", 1, 1)
    assert (found["tag"], found["subtag"], found["parallel"], found["dep_ot"]) == ("007", "off", False, 1.5)
    assert found["deps"] == [{"desc": "3", "command": "a/ready.py;x", "ottime": 1}]
    assert found["jobs"] == [{"command": "a/load.py", "step_lvl": 1, "ottime": 30}]


def test_a_file_may_hold_one_chain_or_a_list_or_several_documents() -> None:
    many = f"chains:\n- {{job_desc: a, timestr: '@daily', {JOBS}}}\n- {{job_desc: b, timestr: /5 * * * *, {JOBS}}}\n"
    assert [each["job_desc"] for each in read(many)] == ["a", "b"]
    documents = f"\ufeffjob_desc: a\r\ntimestr: 0 2 * * *\r\n{JOBS}\r\n---\n{many}---\n"
    assert [each["job_desc"] for each in read(documents)] == ["a", "a", "b"]


def test_what_is_null_is_as_good_as_not_given() -> None:
    (found,) = read(f"job_desc: a\ntimestr: 0 2 * * *\ntag: ~\nsubtag:\n{JOBS}\n")
    assert "tag" not in found
    assert "subtag" not in found


def test_anchors_and_merges_save_words() -> None:
    text = f"""\
x-all: &all {{timestr: 0 2 * * *, tag: important, {JOBS}}}
chains:
- {{<<: *all, job_desc: a}}
- {{<<: [*all, {{subtag: eu}}], job_desc: b, tag: free}}
"""
    first, second = read(text)
    assert (first["tag"], first["timestr"]) == ("important", "0 2 * * *")
    assert (second["tag"], second["subtag"], second["jobs"]) == ("free", "eu", first["jobs"])


WRONG = {
    "an unknown field": (
        f"chains:\n- {{job_desc: a, timestr: x, {JOBS}}}\n- job_desc: b\n  timestr: x\n  jobs:\n"
        "  - {command: a.py, steplvl: 1, step_lvl: 1, ottime: 1}\n",
        "load.yaml, line 6, column 21: chains[1].jobs[0].steplvl: unknown field; known here: job_desc, step_lvl, env, "
        "command, ottime",
    ),
    "a field given twice": (
        f"job_desc: a\ntimestr: x\njob_desc: b\n{JOBS}\n",
        "load.yaml, line 3, column 1: job_desc: is given twice",
    ),
    "a missing field": (
        "job_desc: a\njobs:\n- command: a.py\n  ottime: 1\n",
        "load.yaml, line 3, column 3: jobs[0].step_lvl: is required",
    ),
    "no name": (
        f"timestr: x\n{JOBS}\n",
        "load.yaml, line 1, column 1: needs a job_desc, or the id of a chain: by it the chain is found again",
    ),
    "a wrong type": (
        f"job_desc: [a]\ntimestr: x\n{JOBS}\n",
        "load.yaml, line 1, column 11: job_desc: must be text",
    ),
    "no number": (
        f"job_desc: a\ntimestr: x\ndep_ot: 1:30\n{JOBS}\n",
        "load.yaml, line 3, column 9: dep_ot: must be a number, not '1:30'",
    ),
    "no finite number": (
        f"job_desc: a\ntimestr: x\ndep_ot: inf\n{JOBS}\n",
        "load.yaml, line 3, column 9: dep_ot: must be a number, not 'inf'",
    ),
    "no switch": (
        f"job_desc: a\ntimestr: x\nswitch: maybe\n{JOBS}\n",
        "load.yaml, line 3, column 9: switch: must be ON or OFF, not 'maybe'",
    ),
    "a step that is no mapping": (
        "job_desc: a\ntimestr: x\njobs:\n- a.py\n",
        "load.yaml, line 4, column 3: jobs[0]: must be fields, `name: value`",
    ),
    "steps that are no list": (
        "job_desc: a\ntimestr: x\njobs: {command: a.py}\n",
        "load.yaml, line 3, column 7: jobs: must be a list, each entry with a dash before it",
    ),
    "a list at the top": (
        "- job_desc: a\n",
        "load.yaml, line 1, column 1: must be one chain, or `chains:` with a list of them",
    ),
    "a tag": (
        f"job_desc: !!python/name:os.system x\ntimestr: x\n{JOBS}\n",
        "load.yaml, line 1, column 11: job_desc: must be text, without a tag before it",
    ),
    "nothing": ("# later\n", "load.yaml, line 1, column 1: holds no chain"),
    "a star": (
        "timestr: */5 * * * *\n",
        "load.yaml, line 1, column 11: a value that begins with * means an alias in YAML: put it in quotes, as in "
        "timestr: '*/5 * * * *'",
    ),
    "an at sign": (
        "timestr: @daily\n",
        "load.yaml, line 1, column 10: character '@' that cannot start a value: put it in quotes, as in "
        "timestr: '*/5 * * * *'",
    ),
    "a tab": ("jobs:\n\t- a\n", "load.yaml, line 2, column 1: a tab: indent with spaces"),
    "a line that is too far in": (
        "job_desc: a\n timestr: x\n",
        "load.yaml, line 2, column 9: a second `name: value` where none can stand: is the line indented too far, or "
        "must its value be quoted?",
    ),
    "an open bracket": (
        "jobs: [a\n",
        "load.yaml, line 2, column 1: is not YAML: expected ',' or ']', but got '<stream end>' "
        "(while parsing a flow sequence)",
    ),
    "a control character": ("a: 1\nb: \x07\n", "load.yaml, line 2, column 4: a character that YAML does not allow"),
    "a name that would colour the screen": (
        f'job_desc: a\n"\\e[31m": 1\n{JOBS}\n',
        "load.yaml, line 2, column 1: \\x1b[31m: unknown field; known here: " + ", ".join(CHAIN),
    ),
    "an unknown anchor": (
        f"{JOBS}\njob_desc: *who\n",
        "load.yaml, line 2, column 11: is not YAML: found undefined alias 'who'",
    ),
    "a merge into itself": (
        "job_desc: a\ntimestr: x\njobs:\n- &it {<<: *it, command: a.py, step_lvl: 1, ottime: 1}\n",
        "load.yaml, line 4, column 3: jobs[0].<<: must be an alias of fields that are not themselves in it",
    ),
    "an unknown field behind an alias": (
        f"x-all: &all {{timestr: x, tagg: y}}\nchains:\n- {{<<: *all, job_desc: a, {JOBS}}}\n",
        "load.yaml, line 1, column 26: chains[0].tagg: unknown field; known here: " + ", ".join(CHAIN),
    ),
    "an alias of no fields": (
        f"x-all: &all [1]\nchains:\n- {{<<: *all, job_desc: a, timestr: x, {JOBS}}}\n",
        "load.yaml, line 1, column 8: chains[0].<<: must be an alias of fields that are not themselves in it",
    ),
    "too deep": ("- " * 5_000, "load.yaml, line 1, column 1: is nested too deeply to be a chain"),
    "too large": (
        "#" * (MOST_CHARACTERS + 1),
        f"load.yaml, line 1, column 1: has more than {MOST_CHARACTERS} characters: divide it",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_fault_has_its_place_and_its_remedy(name: str) -> None:
    text, words = WRONG[name]
    assert words in faults(text)


def test_all_faults_are_found_at_once() -> None:
    text = "job_desc: a\ntimestr: x\nfoo: 1\njobs:\n- {command: a.py, step_lvl: one, ottime: 1}\n- {ottime: x}\n"
    assert [fault.split(": ", 2)[1] for fault in faults(text)] == [
        *("foo", "jobs[0].step_lvl", "jobs[1].ottime", "jobs[1].command", "jobs[1].step_lvl"),
    ]


def test_aliases_do_not_multiply_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yaml_file, "MOST_VALUES", 1_000)
    steps = ", ".join(["*s"] * 50)
    chains = ", ".join(["*c"] * 50)
    text = f"""\
x-step: &s {{command: a.py, step_lvl: 1, ottime: 1}}
x-chain: &c {{job_desc: a, timestr: x, jobs: [{steps}]}}
chains: [{chains}]
"""
    assert faults(text) == ["load.yaml, line 1, column 1: holds more than 1000 values once its aliases are followed"]
    laughs = "\n".join(f"x-{n}: &m{n} {{<<: [{', '.join([f'*m{n - 1}'] * 9)}]}}" for n in range(1, 9))
    text = f"x-0: &m0 {{tag: ha}}\n{laughs}\nchains: [{{<<: *m8, job_desc: a, timestr: x, {JOBS}}}]\n"
    assert faults(text) == ["load.yaml, line 1, column 1: holds more than 1000 values once its aliases are followed"]


def test_a_file_full_of_faults_is_not_told_to_the_end() -> None:
    text = "job_desc: a\ntimestr: x\njobs:\n" + "- 1\n" * 500
    assert faults(text)[-1] == "load.yaml, line 1, column 1: has 100 faults and perhaps more"


def compared(text: str, *chains: dict[str, Any]) -> Any:
    found, wrong = read_chains(text, "load.yaml")
    assert wrong == []
    return compare(found, chains)


def test_a_chain_is_found_by_its_id_or_else_by_its_job_desc() -> None:
    jobs = [{"command": "a.py", "step_lvl": 1, "ottime": 1}]
    here = stored(3, jobs=jobs)
    text = f"job_desc: nightly load\ntimestr: 0 2 * * *\n{JOBS}\n"
    (same,), _ = compared(text, here)
    assert (same.verdict, same.chain_id) == (Verdict.SAME, 3)
    (new,), _ = compared(text)
    assert (new.verdict, new.chain_id, "timezone" in new.body) == (Verdict.CREATE, None, False)
    (renamed,), _ = compared(f"id: 3\n{text.replace('nightly', 'daily')}", here)
    assert (renamed.verdict, renamed.chain_id, renamed.differs) == (Verdict.UPDATE, 3, ("job_desc",))
    assert diff_lines(renamed)[:5] == [
        "--- chain 3 (stored)",
        "+++ daily load (load.yaml, line 1, column 1)",
        "@@ -1,4 +1,4 @@",
        "-job_desc: nightly load",
        "+job_desc: daily load",
    ]


def test_what_a_file_does_not_say_of_switch_and_zone_stays_as_operators_left_it() -> None:
    jobs = [{"command": "a.py", "step_lvl": 1, "ottime": 1}]
    here = stored(3, jobs=jobs, switch="OFF", timezone="Asia/Seoul", tag="x")
    (change,), _ = compared(f"job_desc: nightly load\ntimestr: 0 2 * * *\n{JOBS}\n", here)
    assert (change.body["switch"], change.body["timezone"]) == ("OFF", "Asia/Seoul")
    assert change.differs == ("tag",)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            f"job_desc: twin\ntimestr: x\n{JOBS}\n",
            "load.yaml, line 1, column 11: job_desc: 2 stored chains are called 'twin': give the id, of 4, 5",
        ),
        (
            f"timestr: x\nid: 9\n{JOBS}\n",
            "load.yaml, line 2, column 5: id: there is no chain 9: leave the id out, and it is made and found by its "
            "job_desc",
        ),
        (
            f"job_desc: new\ntimestr: x\n{JOBS}\n---\njob_desc: new\ntimestr: x\n{JOBS}\n",
            "load.yaml, line 5, column 1: the same chain is at load.yaml, line 1, column 1: give each its own id or "
            "job_desc",
        ),
        (
            f"id: 3\ntimestr: x\n{JOBS}\n---\njob_desc: nightly load\ntimestr: x\n{JOBS}\n",
            "load.yaml, line 5, column 1: the same chain is at load.yaml, line 1, column 1: give each its own id or "
            "job_desc",
        ),
        (
            f"id: 3\njob_desc: new\ntimestr: x\n{JOBS}\n---\njob_desc: new\ntimestr: x\n{JOBS}\n",
            "load.yaml, line 6, column 1: the same chain is at load.yaml, line 1, column 1: give each its own id or "
            "job_desc",
        ),
    ],
)
def test_a_chain_that_cannot_be_told_apart_is_a_fault(text: str, words: str) -> None:
    _, wrong = compared(text, stored(3), stored(4, job_desc="twin"), stored(5, job_desc="twin"))
    assert [str(fault) for fault in wrong] == [words]


def test_what_is_exported_is_read_back_as_it_was() -> None:
    hard = "*odd: 'x' \"y\" #1\tä 한국 \x1b[31m"
    step = {"command": "a/b.py;one two;;#3", "step_lvl": 0, "ottime": 0.25, "env": "/bin/sh", "job_desc": "no"}
    chains = [
        stored(
            1, job_desc=hard, timestr="*/5 * * * *", jobs=[step], deps=[{"command": "a.py", "ottime": 1}], dep_ot=30
        ),
        stored(2, job_desc="twin", jobs=[step, {**step, "step_lvl": 3}], switch="OFF", parallel=False, tag="0x1F"),
        stored(3, job_desc="twin", jobs=[step], main_flag=0, BKP_flag=1, dep_err_tolerance=0, probe_seconds=0.5),
        stored(4, job_desc=None, jobs=[step], timezone="Asia/Ho_Chi_Minh", subtag="null"),
    ]
    text = export_yaml(chains, chains)
    changes, wrong = compared(text, *chains)
    assert wrong == []
    assert [(change.chain_id, change.verdict) for change in changes] == [(n, Verdict.SAME) for n in (1, 2, 3, 4)]
    assert [each.get("id") for each in read(text)] == [None, 2, 3, 4]
    alone = export_yaml(chains[:1], chains)
    assert read(alone) == read(text)[:1]
    assert "main_flag" not in alone
