"""The table from our errors to Glue's, checked against the model."""

import pytest
from botocore.loaders import Loader

from waterclock.domain import errors as ours
from waterclock.faces.glue.errors import TABLE, refusal
from waterclock.faces.glue.model import ACTIONS, declared_errors
from waterclock.faces.glue.wording import worded
from waterclock.faces.sigv4 import SignatureRefused

# AWS answers these before an action is reached: no model declares them for an action.
FRAMEWORK = {"AccessDeniedException", "UnrecognizedClientException"}


@pytest.mark.parametrize(
    ("error", "name", "status"),
    [
        (ours.InvalidInput("no", field="Name"), "InvalidInputException", 400),
        (ours.BadSchedule("cron(x)", "no"), "InvalidInputException", 400),
        (ours.NotFound("job", "a"), "EntityNotFoundException", 400),
        (ours.AlreadyExists("job", "a"), "AlreadyExistsException", 400),
        (ours.NotAllowed("stop it first"), "InvalidInputException", 400),
        (ours.ConcurrentRunsExceeded("a", 1), "ConcurrentRunsExceededException", 400),
        (ours.QuotaExceeded("ann", "jobs", used=1, most=1), "ResourceNumberLimitExceededException", 400),
        (ours.CannotRun("no such interpreter"), "InvalidInputException", 400),
        (ours.Forbidden("not yours"), "AccessDeniedException", 400),
        (ours.Unauthenticated("who?"), "UnrecognizedClientException", 403),
        (SignatureRefused("InvalidSignatureException", "no"), "InvalidSignatureException", 403),
        (SignatureRefused("MissingAuthenticationTokenException", "no"), "MissingAuthenticationTokenException", 403),
        (ours.Unavailable("the store does not answer"), "InternalServiceException", 503),
    ],
)
def test_each_of_our_errors_has_its_name_and_status(error: ours.WaterclockError, name: str, status: int) -> None:
    refused = refusal(error)
    assert (refused.name, refused.status, refused.message) == (name, status, worded(error))


@pytest.mark.parametrize("error", [ValueError("secret=hunter2"), KeyError("password"), ours.WaterclockError("hm")])
def test_what_nobody_foresaw_is_an_internal_error_that_tells_nothing(error: Exception) -> None:
    refused = refusal(error)
    assert (refused.name, refused.status) == ("InternalServiceException", 500)
    assert refused.message == "An internal error occurred"


def test_every_error_of_the_domain_is_in_the_table() -> None:
    kinds = {kind for kind in vars(ours).values() if isinstance(kind, type) and issubclass(kind, Exception)}
    unmapped = {kind for kind in kinds if not issubclass(kind, tuple(entry[0] for entry in TABLE))}
    assert unmapped == {ours.WaterclockError}


def test_every_name_is_one_the_model_has_a_class_for_with_that_fault() -> None:
    shapes = Loader().load_service_model("glue", "service-2")["shapes"]
    for _, name, status in TABLE:
        if name not in FRAMEWORK:
            assert shapes[name]["exception"]
            assert shapes[name].get("fault", False) == (status >= 500)
    assert shapes["AccessDeniedException"]["exception"]


def test_the_names_are_declared_for_the_actions_that_can_meet_them() -> None:
    def declaring(name: str) -> set[str]:
        return {action for action in ACTIONS if name in declared_errors(action)}

    assert declaring("InvalidInputException") == declaring("InternalServiceException") == set(ACTIONS)
    assert {"CreateJob", "CreateTrigger", "CreateWorkflow"} <= declaring("AlreadyExistsException")
    assert {"StartJobRun", "StartTrigger", "StartWorkflowRun"} <= declaring("ConcurrentRunsExceededException")
    # AWS deletes and batch calls know no missing entity: the handlers of these must not answer EntityNotFound.
    silent = {"DeleteJob", "DeleteTrigger", "DeleteWorkflow", "BatchGetJobs", "BatchGetTriggers", "BatchGetWorkflows"}
    silent |= {"BatchStopJobRun", "CreateJob", "CreateWorkflow", "ListWorkflows"}
    assert declaring("EntityNotFoundException") == set(ACTIONS) - silent
