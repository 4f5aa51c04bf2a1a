"""Every action's request against the model: the valid passes, each single fault is refused by name."""

from typing import Any

import pytest
from botocore.loaders import Loader
from botocore.model import ServiceModel
from botocore.validate import ParamValidator

from tests.faces.glue.samples import Case, cases, minimal
from waterclock.domain.errors import InvalidInput
from waterclock.faces.glue.model import ACTIONS, EXTRA, declared_errors, input_shape, output_shape, shape, validate


@pytest.fixture(scope="module")
def service() -> Any:
    return ServiceModel(Loader().load_service_model("glue", "service-2"))


def refused(action: str, body: Any) -> InvalidInput:
    with pytest.raises(InvalidInput) as caught:
        validate(action, body)
    return caught.value


def complaint(action: str, case: Case) -> str | None:
    """What is wrong with our answer to one case, if anything."""
    try:
        validate(action, case.body)
    except InvalidInput as error:
        if case.field is None:
            return f"{case.what}: refused: {error}"
        return None if error.field == case.field else f"{case.what}: blamed {error.field!r}, not {case.field!r}"
    return None if case.field is None else f"{case.what} at {case.field}: let through"


@pytest.mark.parametrize("action", [*ACTIONS, *EXTRA])
def test_every_single_fault_in_a_request_is_refused_by_its_path_and_nothing_else_is(action: str) -> None:
    tried = list(cases(action))
    assert [found for case in tried if (found := complaint(action, case))] == []
    assert {case.field is None for case in tried} == {True, False}


@pytest.mark.parametrize("action", [*ACTIONS, *EXTRA])
def test_the_smallest_request_is_what_botocore_itself_would_send(action: str, service: Any) -> None:
    body = minimal(input_shape(action))
    model = service.operation_model(action).input_shape
    assert not ParamValidator().validate(body, model).has_errors()
    assert validate(action, body) == body


def test_there_are_thirty_eight_actions_and_each_has_a_request_a_response_and_errors() -> None:
    assert len(set(ACTIONS)) == 38
    for action in ACTIONS:
        assert shape(input_shape(action))["type"] == shape(output_shape(action))["type"] == "structure"
        assert {"InvalidInputException", "InternalServiceException"} <= declared_errors(action)


def test_an_action_outside_the_thirty_eight_has_no_model() -> None:
    with pytest.raises(KeyError):
        validate("DeleteDatabase", {"Name": "x"})


def test_documentation_is_not_kept() -> None:
    job = shape("Job")
    assert "documentation" not in job
    assert "documentation" not in job["members"]["Name"]


def test_the_error_is_worded_as_aws_words_it() -> None:
    error = refused("GetJob", {"JobName": "x" * 256})
    assert str(error) == (
        f"1 validation error detected: Value '{'x' * 256}' at 'jobName' failed to satisfy constraint: "
        "Member must have length less than or equal to 255"
    )
    assert (error.field, error.value) == ("JobName", "x" * 256)


def test_a_nested_member_is_named_in_full() -> None:
    error = refused("UpdateJob", {"JobName": "a", "JobUpdate": {"Command": {"PythonVersion": "4"}}})
    assert error.field == "JobUpdate.Command.PythonVersion"
    assert "Value '4' at 'jobUpdate.command.pythonVersion' failed" in str(error)


def test_an_item_of_a_list_is_counted_from_one_on_the_wire() -> None:
    error = refused("BatchGetJobs", {"JobNames": ["a", ""]})
    assert error.field == "JobNames[1]"
    assert "at 'jobNames.2.member' failed" in str(error)


def test_a_missing_member_is_null_in_the_words_of_aws() -> None:
    assert "Value null at 'jobName' failed to satisfy constraint: Member must not be null" in str(refused("GetJob", {}))


def test_nulls_are_read_as_absent_at_every_depth() -> None:
    given = {"Name": "a", "Role": "r", "Command": {"Name": "shell", "Runtime": None}, "Tags": None}
    assert validate("CreateJob", given) == {"Name": "a", "Role": "r", "Command": {"Name": "shell"}}
    assert given["Tags"] is None, "the caller's request is left as it was"


@pytest.mark.parametrize("name", ["nightly\n", "a\rb", "\nx", "a\x00b", "a\x0bb", "a\ufffe", "x\ud800"])
def test_names_with_newlines_controls_or_half_characters_are_refused(name: str) -> None:
    assert refused("GetJob", {"JobName": name}).field == "JobName"


@pytest.mark.parametrize("name", ["⏰", "job 🚀", "🚀" * 255, "작업", "công việc", "tab\there", "a" * 255])
def test_names_with_emoji_and_any_script_are_legal(name: str) -> None:
    assert validate("GetJob", {"JobName": name}) == {"JobName": name}


def test_a_length_counts_code_points_not_utf16_units() -> None:
    assert refused("GetJob", {"JobName": "🚀" * 256}).field == "JobName"


def test_no_string_may_carry_nul_even_where_the_model_has_no_pattern() -> None:
    body = {"Name": "a", "Role": "r", "Command": {"ScriptLocation": "file:///a\0b"}}
    assert refused("CreateJob", body).field == "Command.ScriptLocation"


def test_what_stands_in_a_map_is_not_repeated_in_the_error() -> None:
    error = refused("StartJobRun", {"JobName": "a", "Arguments": {"--password": ["hunter2"]}})
    assert error.field == "Arguments['--password']"
    assert "hunter2" not in str(error)


def test_a_bad_key_of_a_map_names_the_key() -> None:
    error = refused("TagResource", {"ResourceArn": "arn:aws:glue:x", "TagsToAdd": {"k" * 129: "v"}})
    assert error.field == f"TagsToAdd['{'k' * 64}…']"
    assert "at 'tagsToAdd' failed to satisfy constraint: Map keys must satisfy constraint: [Member must have" in str(
        error
    )


def test_huge_values_and_names_are_cut_in_the_error() -> None:
    assert len(str(refused("GetJob", {"JobName": "x" * 1_000_000}))) < 500
    assert len(str(refused("GetJob", {"JobName": "a", "B" * 1_000_000: 1}))) < 500


def test_a_shape_that_contains_itself_is_checked_at_every_depth() -> None:
    def request(leaf: dict[str, Any]) -> dict[str, Any]:
        mapping = {"Children": [{"Children": [leaf]}]}
        node = {"ApplyMapping": {"Name": "n", "Inputs": ["i"], "Mapping": [mapping]}}
        return {"Name": "a", "Role": "r", "Command": {}, "CodeGenConfigurationNodes": {"n1": node}}

    assert validate("CreateJob", request({"Dropped": True})) == request({"Dropped": True})
    error = refused("CreateJob", request({"Dropped": "no"}))
    assert error.field == "CodeGenConfigurationNodes['n1'].ApplyMapping.Mapping[0].Children[0].Children[0].Dropped"


def test_twenty_six_run_ids_are_one_too_many() -> None:
    error = refused("BatchStopJobRun", {"JobName": "a", "JobRunIds": [f"jr_{n}" for n in range(26)]})
    assert error.field == "JobRunIds"
    assert "less than or equal to 25" in str(error)
