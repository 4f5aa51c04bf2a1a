"""For each error that an action may refuse with, what to send so that it does."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.faces.glue.matrix import Things
from tests.faces.http.served import Account
from waterclock.domain.access import Role
from waterclock.domain.errors import Unavailable
from waterclock.domain.quota import QuotaKind
from waterclock.faces.glue.model import input_shape, shape
from waterclock.faces.glue.table import DENIED, FULL, INTERNAL, INVALID, LIMIT, MISSING, STATE, TAKEN
from waterclock.stores.ops import access as access_ops
from waterclock.stores.sqlite.session import SqliteTx

Body = dict[str, Any]
ABSENT = "absent"


class Provoking:
    """An organisation with one of each thing, and callers who ask for too much."""

    def __init__(self, account: Account) -> None:
        self.account = account
        self.things = self._furnished()
        # Without botocore's own checks: the server shall be the one that refuses.
        author, viewer = account.key(), account.key(Role.VIEWER)
        self._glue = account.served.client(author, parameter_validation=False)
        self._viewers = account.served.client(viewer, parameter_validation=False)
        self._poor = account.served.client(account.key(name="poor"), parameter_validation=False)
        for kind in QuotaKind:
            account.served.run(account.served.quotas.set(account.admin(), "poor", kind, 0))

    def _furnished(self) -> Things:
        served = self.account.served
        organisation = served.run(served.database.read(access_ops.get_organisation, org_id=self.account.org_id))
        assert organisation is not None
        return Things(self.account.client(), served, organisation)

    def client(self, error: str) -> Any:
        return {DENIED: self._viewers, LIMIT: self._poor}.get(error, self._glue)

    def body(self, action: str, error: str) -> Body:
        return BODIES[error](self, action)

    def usual(self, action: str) -> Body:
        return self.things.request(action)

    def invalid(self, action: str) -> Body:
        """Nothing at all, or of a list no items a page."""
        return {} if "required" in shape(input_shape(action)) else {"MaxResults": 0}

    def missing(self, action: str) -> Body:
        if action in ("GetTriggers", "ListTriggers"):
            return {"DependentJobName": ABSENT}
        body = self.usual(action)
        if action == "CreateTrigger":
            return {**body, "Actions": [{"JobName": ABSENT}]}
        named = next(name for name in ("ResourceArn", "JobName", "Name") if name in body)
        return {**body, named: f"{body[named]} {ABSENT}"}

    def taken(self, action: str) -> Body:
        body = self.usual(action)
        getattr(self._glue, method(action))(**body)
        return body

    def unheard_of(self, action: str) -> Body:
        """What is defined has a name that nobody has taken."""
        body = self.usual(action)
        return {**body, "Name": "one too many"} if action.startswith("Create") else body

    def full(self, action: str) -> Body:
        """Its job or workflow may run once at a time, and does."""
        body, glue = self.usual(action), self._glue
        if action == "StartJobRun":
            cap = {"ExecutionProperty": {"MaxConcurrentRuns": 1}}
            glue.create_job(**{**self.usual("CreateJob"), "Name": "narrow", **cap})
            glue.start_job_run(JobName="narrow")
            return {**body, "JobName": "narrow"}
        glue.update_workflow(Name=body["Name"], MaxConcurrentRuns=1)
        return body

    def wrong_state(self, action: str) -> Body:
        """What has ended cannot be stopped, what lives cannot be resumed."""
        body, runs = self.usual(action), {"Stop": self.things.ended, "Resume": self.things.flow_run_id}
        self._glue.update_workflow(Name=body["Name"])  # without a cap, which would be told first
        return {**body, "RunId": runs[action.removesuffix("WorkflowRun")]}


BODIES: dict[str, Callable[[Provoking, str], Body]] = {
    INVALID: Provoking.invalid,
    MISSING: Provoking.missing,
    TAKEN: Provoking.taken,
    FULL: Provoking.full,
    STATE: Provoking.wrong_state,
    LIMIT: Provoking.unheard_of,
    DENIED: Provoking.usual,
    INTERNAL: Provoking.usual,
}


def method(action: str) -> str:
    """As boto3 calls it."""
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in action).lstrip("_")


def store_away(patched: pytest.MonkeyPatch) -> None:
    """No statement is answered any more."""

    async def unanswered(*_: object) -> Any:
        raise Unavailable("the store does not answer")

    for name in ("fetch", "fetch_one", "run", "run_many"):
        patched.setattr(SqliteTx, name, unanswered)
