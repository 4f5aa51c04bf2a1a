"""How a job's files are to be read: what it says, or what their names say."""

from typing import Any

import pytest

from waterclock.runners.sync.formats.options import FileFormat, format_of, options_of, skips_bad_lines
from waterclock.runners.sync.source import SourceFailed


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("a.csv", FileFormat.CSV),
        ("a.TSV", FileFormat.CSV),
        ("a.csv.gz", FileFormat.CSV),
        ("a.jsonl", FileFormat.JSON),
        ("a/b.parquet", FileFormat.PARQUET),
        ("a.xlsx", FileFormat.EXCEL),
        ("export.csv?year=2026", FileFormat.CSV),
    ],
)
def test_a_format_is_known_by_the_name(name: str, found: FileFormat) -> None:
    assert format_of({}, [name]) is found


def test_the_job_goes_before_the_name() -> None:
    assert format_of({"format": "JSONL"}, ["a.csv"]) is FileFormat.JSON


@pytest.mark.parametrize(
    ("task", "names", "words"),
    [
        ({}, ["a.csv", "b.parquet"], "several formats"),
        ({}, ["data"], "cannot be told by its name: give format"),
        ({"format": "xml"}, ["a.xml"], "format is 'xml': known are csv, json, parquet, excel"),
    ],
)
def test_what_cannot_be_told_is_refused(task: dict[str, Any], names: list[str], words: str) -> None:
    with pytest.raises(SourceFailed, match=words):
        format_of(task, names)


def test_options_have_what_is_usual() -> None:
    assert options_of({}, ["a.csv"]).separator == ","
    assert options_of({}, ["a.tsv"]).separator == "\t"
    assert options_of({"options": {"separator": "\\t"}}, ["a.csv"]).separator == "\t"
    assert options_of({"options": {"quote": ""}}, ["a.csv"]).quote == ""
    assert options_of({"options": {"columns": [{"name": "a", "type": "int"}, "b"]}}, []).only == ("a", "b")
    assert not skips_bad_lines({})


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"delimiter": ";"}, "options.delimiter is not known"),
        ({"separator": "||"}, "options.separator is '||': give one"),
        ({"separator": "·"}, "one ASCII character"),
        ({"encoding": "klingon"}, "options.encoding 'klingon' is not known"),
        ({"encoding": "base64"}, "options.encoding 'base64' is not known"),
        ({"header": "yes"}, "options.header must be true or false"),
        ({"sheet": True}, "options.sheet must be"),
        ({"columns": 7}, "options.columns must be"),
        ([], "options must be an object"),
    ],
)
def test_what_is_no_option_is_refused_by_its_name(options: object, words: str) -> None:
    with pytest.raises(SourceFailed, match=words.replace("|", r"\|")):
        options_of({"options": options}, ["a.csv"])


def test_a_bad_line_fails_or_is_skipped_and_nothing_else() -> None:
    assert skips_bad_lines({"on_bad_line": "skip"})
    with pytest.raises(SourceFailed, match="on_bad_line is 'ignore': known are fail, skip"):
        skips_bad_lines({"on_bad_line": "ignore"})
