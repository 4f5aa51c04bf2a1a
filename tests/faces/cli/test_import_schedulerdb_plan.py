"""What becomes of the rows of a schedulerDB, from values alone: rows are as the driver hands them over."""

from pathlib import Path
from typing import Any

import pytest

from waterclock.faces.cli.importing.plan import Verdict
from waterclock.faces.cli.importing.schedulerdb.findings import Weight
from waterclock.faces.cli.importing.schedulerdb.judging import Judged, judge, strays
from waterclock.faces.cli.importing.schedulerdb.plan import change, differences, plan
from waterclock.faces.cli.importing.schedulerdb.tables import Row, Tables
from waterclock.faces.cli.importing.schedulerdb.zone import machine_zone

ZONE = "Asia/Seoul"


def a_chain(**more: Any) -> Row:
    row = {"id": 12, "job_desc": "일일 적재", "total_stpes": 1, "timestr": "10 2 * * *", "dep_ot": 30.0, "switch": "ON"}
    return {**row, "main_flag": 1, "BKP_flag": 0, "tag": "important", "subtag": None, **more}


def a_gate(**more: Any) -> Row:
    row = {"id": 7, "jobchainid": 12, "env": "/bin/sh", "command": "dep/look.sh", "desc": "도착", "ottime": 2}
    return {**row, **more}


def a_step(**more: Any) -> Row:
    row = {"id": 9, "job_chain_id": 12, "env": "/bin/sh", "command": "load/load.sh;a;b", "job_desc": "load"}
    return {**row, "step_lvl": 1, "ottime": "30", **more}


def tables(*chains: Row, gates: tuple[Row, ...] = (), steps: tuple[Row, ...] | None = None) -> Tables:
    return Tables(chains=chains, gates=gates, steps=(a_step(),) if steps is None else steps, left={})


def judged(
    chain: Row | None = None,
    *,
    gate: Row | None = None,
    steps: tuple[Row, ...] | None = None,
    off: bool = False,
) -> Judged:
    gates = (gate,) if gate else ()
    (found,) = judge(tables(chain or a_chain(), gates=gates, steps=steps), timezone=ZONE, off=off)
    return found


def shown(chain: Judged, **more: Any) -> dict[str, Any]:
    """As our server would show it."""
    empty = dict.fromkeys(("job_desc", "dep_ot", "tag", "subtag", "source", "probe_seconds"))
    set_here = {"parallel": True, "dep_err_tolerance": 5}
    return {**empty, **set_here, **(chain.body or {}), "switch": chain.switch, "source": "schedulerDB#12", **more}


def test_a_chain_is_carried_as_it_stands() -> None:
    found = judged(gate=a_gate())
    assert found.findings == ()
    assert found.body == {
        "id": 12,
        "job_desc": "일일 적재",
        "timestr": "10 2 * * *",
        "timezone": ZONE,
        "dep_ot": 30.0,
        "switch": "ON",
        "main_flag": 1,
        "BKP_flag": 0,
        "tag": "important",
        "deps": [{"env": "/bin/sh", "command": "dep/look.sh", "desc": "도착", "ottime": 2.0}],
        "jobs": [
            {"env": "/bin/sh", "command": "load/load.sh;a;b", "job_desc": "load", "step_lvl": 1, "ottime": 30.0},
        ],
    }


@pytest.mark.parametrize(
    ("chain", "words"),
    [
        ({"timestr": "61 * * * *"}, "cannot read schedule '61 * * * *'"),
        ({"timestr": ""}, "cannot read schedule ''"),
        ({"switch": "PAUSE"}, "switch 'PAUSE' is neither ON nor OFF"),
        ({"switch": ""}, "switch '' is neither ON nor OFF"),
    ],
)
def test_what_cannot_be_read_comes_in_off_and_says_why(chain: dict[str, Any], words: str) -> None:
    found = judged(a_chain(**chain))
    assert found.body is not None
    assert found.switch == "OFF"
    assert words in found.said(Weight.OFF)[0]


@pytest.mark.parametrize(
    ("switch", "means"), [("ON", "ON"), ("on", "ON"), ("On ", "ON"), ("OFF", "OFF"), ("off", "OFF")]
)
def test_a_switch_means_the_same_however_it_is_written(switch: str, means: str) -> None:
    found = judged(a_chain(switch=switch))
    assert (found.findings, found.switch) == ((), means)
    assert found.body is not None
    assert found.body["switch"] == means


def test_everything_may_be_brought_in_off() -> None:
    assert judged(off=True).switch == "OFF"


def test_the_old_form_of_a_timestr_is_read() -> None:
    assert judged(a_chain(timestr="/5 * * * *")).findings == ()


@pytest.mark.parametrize(
    ("chain", "gate", "step", "words"),
    [
        ({"dep_ot": 0.0}, {}, {}, "dep_ot 0 gives its 1 gate(s) no time"),
        ({"dep_ot": -1.5}, {}, {}, "dep_ot -1.5 gives its 1 gate(s) no time"),
        ({"dep_ot": None}, {}, {}, "dep_ot NULL gives its 1 gate(s) no time"),
        ({}, {"ottime": 0}, {}, "deptable#7: ottime 0 is no number of minutes above 0"),
        ({}, {"ottime": -3}, {}, "deptable#7: ottime -3"),
        ({}, {}, {"ottime": "0"}, "jobtable#9: ottime '0'"),
        ({}, {}, {"ottime": "-30"}, "jobtable#9: ottime '-30'"),
        ({}, {}, {"ottime": "an hour"}, "jobtable#9: ottime 'an hour'"),
        ({}, {}, {"ottime": ""}, "jobtable#9: ottime ''"),
        ({}, {}, {"ottime": "1_0"}, "jobtable#9: ottime '1_0'"),
        ({}, {}, {"ottime": "nan"}, "jobtable#9: ottime 'nan'"),
        ({}, {}, {"ottime": "999999999"}, "jobs[0].ottime: must be more than 0 minutes, at most"),
        ({}, {}, {"step_lvl": -1}, "jobtable#9: step_lvl -1 is below 0"),
        ({}, {}, {"step_lvl": 1_000_000}, "jobs[0].step_lvl: must be 0 to 999999"),
        ({}, {}, {"command": "/opt/x.py;a"}, "jobtable#9: command '/opt/x.py;a' leaves the jobfolder: copy"),
        ({}, {"command": "../x.py"}, {}, "deptable#7: command '../x.py' leaves the depfolder: copy"),
        ({}, {}, {"command": " ;a"}, "jobtable#9: command ' ;a' names no script"),
        ({}, {}, {"command": "x.py;{{secret:a b}}"}, "command: a reference to a secret"),
        ({}, {}, {"env": "/usr/bin/python3 -u"}, "jobtable#9: env '/usr/bin/python3 -u' has arguments"),
        ({}, {"env": "/usr/bin/env python3"}, {}, "deptable#7: env '/usr/bin/env python3' has arguments"),
        ({}, {}, {"env": "venv/bin/python"}, "jobtable#9: env 'venv/bin/python' is a relative path"),
    ],
)
def test_what_cannot_be_carried_says_which_row_and_what_to_do(
    chain: dict[str, Any], gate: dict[str, Any], step: dict[str, Any], words: str
) -> None:
    found = judged(a_chain(**chain), gate=a_gate(**gate), steps=(a_step(**step),))
    assert found.body is None
    assert found.said(Weight.CANNOT)[0].startswith(words)


def test_all_reasons_are_given_at_once() -> None:
    found = judged(a_chain(dep_ot=0.0), gate=a_gate(ottime=0), steps=(a_step(step_lvl=-1),))
    assert len(found.said(Weight.CANNOT)) == 3


def test_a_chain_without_steps_cannot_be_carried() -> None:
    assert judged(steps=()).said(Weight.CANNOT) == ("it has no steps in jobtable: there is nothing to run",)


@pytest.mark.parametrize(
    ("chain", "step", "words", "body"),
    [
        ({"dep_ot": 0.0}, {}, "dep_ot 0 is left out", {"dep_ot": None}),
        ({"total_stpes": 4}, {}, "total_stpes is 4; jobtable has 1 steps", {}),
        ({"main_flag": 2}, {}, "main_flag 2 is taken as 1", {"main_flag": 1}),
        ({"BKP_flag": -1}, {}, "BKP_flag -1 is taken as 1", {"BKP_flag": 1}),
        ({"main_flag": 0}, {}, "neither main_flag nor BKP_flag is set", {"main_flag": 0}),
        ({"main_flag": 0, "BKP_flag": 1}, {}, "only BKP_flag is set", {"BKP_flag": 1}),
        ({"timestr": "0 30 2 * * ?"}, {}, "timestr has 6 fields", {"timestr": "0 30 2 * * ?"}),
        ({}, {"env": None}, "env is empty in jobtable#9: it is /usr/bin/python3", {}),
        ({}, {"env": " /bin/sh "}, "env has spaces around it in jobtable#9", {}),
    ],
)
def test_what_is_carried_otherwise_than_it_stood_is_noted(
    chain: dict[str, Any], step: dict[str, Any], words: str, body: dict[str, Any]
) -> None:
    found = judged(a_chain(**chain), steps=(a_step(**step),))
    assert [text.startswith(words) for text in found.said(Weight.NOTE)] == [True]
    assert found.body is not None
    assert {name: found.body.get(name) for name in body} == body
    assert found.body["jobs"][0]["env"] == ("/usr/bin/python3" if step == {"env": None} else "/bin/sh")


@pytest.mark.parametrize(
    ("written", "minutes"), [("30", 30.0), ("30.5", 30.5), (" 15 ", 15.0), (".5", 0.5), ("2.", 2.0)]
)
def test_minutes_in_a_varchar_are_read(written: str, minutes: float) -> None:
    found = judged(steps=(a_step(ottime=written),))
    assert found.body is not None
    assert found.body["jobs"][0]["ottime"] == minutes


def test_a_path_with_spaces_is_one_program() -> None:
    assert judged(steps=(a_step(env="/opt/my tools/python3"),)).findings == ()


def test_parts_of_a_chain_that_does_not_exist_are_listed() -> None:
    found = strays(tables(a_chain(), gates=(a_gate(jobchainid=99),), steps=(a_step(), a_step(id=10, job_chain_id=98))))
    assert [(stray.table, stray.id, stray.reason) for stray in found] == [
        ("deptable", 7, "belongs to chain 99, which jobchain_table does not have"),
        ("jobtable", 10, "belongs to chain 98, which jobchain_table does not have"),
    ]


def test_what_was_brought_in_before_is_the_same() -> None:
    chain = judged(gate=a_gate())
    (step,) = plan([chain], [shown(chain)], name="schedulerDB")
    assert (step.verdict, step.differs) == (Verdict.SAME, ())
    off = judged(a_chain(timestr="nonsense", switch="ON"))
    (step,) = plan([off], [shown(off)], name="schedulerDB")
    assert step.verdict is Verdict.SAME


def test_what_differs_is_named_field_by_field() -> None:
    chain = judged(gate=a_gate())
    here = shown(chain, switch="OFF", deps=[], dep_ot=None, probe_seconds=3.0)
    assert differences(chain, here) == ("dep_ot", "switch", "deps")
    assert change(chain, here)["probe_seconds"] == 3.0
    assert change(chain, here)["switch"] == "ON"
    assert "id" not in change(chain, here)


def test_a_chain_with_the_same_number_from_elsewhere_is_another_chain() -> None:
    first, second = judged(), judged(a_chain(id=13), steps=(a_step(job_chain_id=13),))
    steps = plan([first, second], [shown(first, source=None)], name="schedulerDB")
    assert [(step.chain.id, step.verdict, step.renumbered) for step in steps] == [
        (13, Verdict.CREATE, False),
        (12, Verdict.CREATE, True),  # last: its new number must not be one that another brings along
    ]
    assert "its number is taken here by another chain: it gets a new one" in steps[1].notes


def test_two_databases_with_names_of_their_own_do_not_meet() -> None:
    chain = judged()
    (step,) = plan([chain], [shown(chain)], name="seoul")
    assert (step.verdict, step.source) == (Verdict.CREATE, "seoul#12")


def test_the_machines_zone_is_told_by_its_environment_its_link_or_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TZ", raising=False)
    link, file = tmp_path / "localtime", tmp_path / "timezone"
    assert machine_zone(link, file) is None
    file.write_text("Asia/Ho_Chi_Minh\n")
    assert machine_zone(link, file) == "Asia/Ho_Chi_Minh"
    (tmp_path / "zoneinfo/Asia").mkdir(parents=True)
    (tmp_path / "zoneinfo/Asia/Seoul").touch()
    link.symlink_to(tmp_path / "zoneinfo/Asia/Seoul")
    assert machine_zone(link, file) == "Asia/Seoul"
    monkeypatch.setenv("TZ", ":Europe/Berlin")
    assert machine_zone(link, file) == "Europe/Berlin"
    monkeypatch.setenv("TZ", "KST-9")  # a rule, not a name
    assert machine_zone(link, file) == "Asia/Seoul"
