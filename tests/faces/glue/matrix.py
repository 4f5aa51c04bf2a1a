"""Who may call what: for each action the right that it needs, whether only the owner may, and what strangers meet."""

from dataclasses import dataclass
from enum import StrEnum
from itertools import count
from typing import Any, Final

from tests.faces.glue.calls import make_job, make_trigger
from tests.faces.http.served import SCRIPT, Served
from waterclock.domain.access import Organisation, Right
from waterclock.stores.ops.bookmarks import set_bookmark


class Elsewhere(StrEnum):
    """What the admin of another organisation is told who names something of ours."""

    NOT_FOUND = "EntityNotFoundException"
    NOTHING = "done, and nothing of ours is in the answer or changed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    needs: Right
    is_owners: bool = False
    elsewhere: Elsewhere = Elsewhere.NOT_FOUND


READ: Final = Rule(needs=Right.READ)
READ_MANY: Final = Rule(needs=Right.READ, elsewhere=Elsewhere.NOTHING)
RUN: Final = Rule(needs=Right.RUN)
RUN_MANY: Final = Rule(needs=Right.RUN, elsewhere=Elsewhere.NOTHING)
CREATE: Final = Rule(needs=Right.DEFINE, elsewhere=Elsewhere.NOTHING)
CREATE_WITH: Final = Rule(needs=Right.DEFINE)  # it names a job, which must be there
CHANGE: Final = Rule(needs=Right.DEFINE, is_owners=True)
DELETE: Final = Rule(needs=Right.DEFINE, is_owners=True, elsewhere=Elsewhere.NOTHING)  # what is not there is gone

MATRIX: Final[dict[str, Rule]] = {
    "CreateJob": CREATE,
    "UpdateJob": CHANGE,
    "DeleteJob": DELETE,
    "GetJob": READ,
    "GetJobs": READ_MANY,
    "ListJobs": READ_MANY,
    "BatchGetJobs": READ_MANY,
    "StartJobRun": RUN,
    "GetJobRun": READ,
    "GetJobRuns": READ,
    "BatchStopJobRun": RUN_MANY,
    "GetJobBookmark": READ,
    "ResetJobBookmark": RUN,
    "CreateTrigger": CREATE_WITH,
    "UpdateTrigger": CHANGE,
    "DeleteTrigger": DELETE,
    "StartTrigger": RUN,
    "StopTrigger": RUN,
    "GetTrigger": READ,
    "GetTriggers": READ_MANY,
    "ListTriggers": READ_MANY,
    "BatchGetTriggers": READ_MANY,
    "CreateWorkflow": CREATE,
    "UpdateWorkflow": CHANGE,
    "DeleteWorkflow": DELETE,
    "GetWorkflow": READ,
    "ListWorkflows": READ_MANY,
    "BatchGetWorkflows": READ_MANY,
    "StartWorkflowRun": RUN,
    "StopWorkflowRun": RUN,
    "ResumeWorkflowRun": RUN,
    "GetWorkflowRun": READ,
    "GetWorkflowRuns": READ,
    "GetWorkflowRunProperties": READ,
    "PutWorkflowRunProperties": RUN,
    "TagResource": CHANGE,
    "UntagResource": CHANGE,
    "GetTags": READ,
    "CreateCrawler": CREATE,
    "DeleteCrawler": CHANGE,
    "GetCrawler": READ,
    "GetCrawlers": READ_MANY,
    "ListCrawlers": READ_MANY,
    "BatchGetCrawlers": READ_MANY,
}
# Beside Glue: every role may ask.
AROUND: Final = {
    "sts": ("GetCallerIdentity",),
    "iam": ("GetRole",),
    "logs": ("FilterLogEvents", "GetLogEvents"),
}

OURS: Final = "ours alone"  # stands in all that is ours, and in nothing else
SCHEDULED: Final = {"Type": "SCHEDULED", "Schedule": "cron(15 12 * * ? *)"}

_numbers = count(1)


class Things:
    """One of each kind, in a state in which every action on it may be done, and for each action a request."""

    def __init__(self, glue: Any, served: Served, org: Organisation) -> None:
        self._glue = glue
        self._served = served
        self._org_id = org.id
        self._number = next(_numbers)
        self._arn = f"arn:aws:glue:us-east-1:{org.account}:job/{self._name('idle')}"
        self._make_jobs()
        self._make_triggers()
        self._make_workflows()

    def request(self, action: str) -> dict[str, Any]:
        return {**self._jobs(), **self._triggers(), **self._workflows(), **self._others()}[action]

    def seen(self) -> list[Any]:
        """All of it, as it is shown now."""
        glue, busy, live = self._glue, self._name("busy"), {"Name": self._name("flow"), "RunId": self.flow_run_id}
        shown = [
            *(glue.get_job(JobName=self._name(name)) for name in ("busy", "idle")),
            glue.get_job_run(JobName=busy, RunId=self.run_id),
            glue.get_job_bookmark(JobName=busy),
            *(glue.get_trigger(Name=self._name(name)) for name in ("by hand", "clock", "begin")),
            *(glue.get_workflow(Name=self._name(name)) for name in ("flow", "quiet")),
            glue.get_workflow_run(**live, IncludeGraph=True),
            glue.get_workflow_run_properties(**live),
            glue.get_crawler(Name=self._name("crawler")),
            glue.get_tags(ResourceArn=self._arn),
        ]
        return [_lasting(each) for each in shown]

    def _name(self, what: str) -> str:
        return f"{what} {self._number}"

    def _make_jobs(self) -> None:
        for name in ("busy", "idle"):
            make_job(
                self._glue,
                self._name(name),
                Description=OURS,
                Tags={OURS: OURS},
                ExecutionProperty={"MaxConcurrentRuns": 1_000},
            )
        self.run_id = self._glue.start_job_run(JobName=self._name("busy"))["JobRunId"]
        place: Any = {"org_id": self._org_id, "namespace": "glue", "name": self._name("busy")}
        self._served.run(self._served.database.write(set_bookmark, **place, content=OURS))
        self._glue.create_crawler(Name=self._name("crawler"), Role="r", Targets={}, Description=OURS)

    def _make_triggers(self) -> None:
        jobs = (self._name("busy"),)
        make_trigger(self._glue, self._name("by hand"), jobs=jobs, Description=OURS)
        make_trigger(self._glue, self._name("clock"), jobs=jobs, Description=OURS, StartOnCreation=True, **SCHEDULED)

    def _make_workflows(self) -> None:
        flow, jobs = self._name("flow"), (self._name("busy"),)
        for name in (flow, self._name("quiet")):
            self._glue.create_workflow(Name=name, Description=OURS)
        make_trigger(self._glue, self._name("begin"), jobs=jobs, WorkflowName=flow, Description=OURS)
        self.flow_run_id = self._glue.start_workflow_run(Name=flow, RunProperties={"whose": OURS})["RunId"]
        self.ended = self._glue.start_workflow_run(Name=flow)["RunId"]
        run = self._glue.get_workflow_run(Name=flow, RunId=self.ended, IncludeGraph=True)["Run"]
        (node,) = [node for node in run["Graph"]["Nodes"] if node["Type"] == "JOB"]
        self._served.end(node["JobDetails"]["JobRuns"][0]["Id"])
        self.node = node["UniqueId"]

    def _jobs(self) -> dict[str, dict[str, Any]]:
        busy, idle = {"JobName": self._name("busy")}, {"JobName": self._name("idle")}
        return {
            "CreateJob": {"Name": self._name("new"), "Role": "r", "Command": SCRIPT},
            "UpdateJob": {**idle, "JobUpdate": {"Description": "changed"}},
            "DeleteJob": idle,
            **dict.fromkeys(("GetJob", "StartJobRun", "GetJobRuns", "GetJobBookmark", "ResetJobBookmark"), busy),
            "GetJobs": {},
            "ListJobs": {},
            "BatchGetJobs": {"JobNames": [self._name("busy")]},
            "GetJobRun": {**busy, "RunId": self.run_id},
            "BatchStopJobRun": {**busy, "JobRunIds": [self.run_id]},
        }

    def _triggers(self) -> dict[str, dict[str, Any]]:
        by_hand, actions = {"Name": self._name("by hand")}, [{"JobName": self._name("busy")}]
        return {
            "CreateTrigger": {"Name": self._name("new"), "Type": "ON_DEMAND", "Actions": actions},
            "UpdateTrigger": {**by_hand, "TriggerUpdate": {"Description": "changed"}},
            **dict.fromkeys(("DeleteTrigger", "StartTrigger", "GetTrigger"), by_hand),
            "StopTrigger": {"Name": self._name("clock")},
            "GetTriggers": {},
            "ListTriggers": {},
            "BatchGetTriggers": {"TriggerNames": [self._name("by hand")]},
        }

    def _workflows(self) -> dict[str, dict[str, Any]]:
        flow, quiet = {"Name": self._name("flow")}, {"Name": self._name("quiet")}
        live = {**flow, "RunId": self.flow_run_id}
        return {
            "CreateWorkflow": {"Name": self._name("new")},
            "UpdateWorkflow": {**quiet, "Description": "changed"},
            "DeleteWorkflow": quiet,
            **dict.fromkeys(("GetWorkflow", "StartWorkflowRun", "GetWorkflowRuns"), flow),
            "ListWorkflows": {},
            "BatchGetWorkflows": {"Names": [self._name("flow")]},
            **dict.fromkeys(("StopWorkflowRun", "GetWorkflowRun", "GetWorkflowRunProperties"), live),
            "PutWorkflowRunProperties": {**live, "RunProperties": {"k": "v"}},
            "ResumeWorkflowRun": {**flow, "RunId": self.ended, "NodeIds": [self.node]},
        }

    def _others(self) -> dict[str, dict[str, Any]]:
        crawler = {"Name": self._name("crawler")}
        return {
            "TagResource": {"ResourceArn": self._arn, "TagsToAdd": {"k": "v"}},
            "UntagResource": {"ResourceArn": self._arn, "TagsToRemove": [OURS]},
            "GetTags": {"ResourceArn": self._arn},
            "CreateCrawler": {"Name": self._name("new"), "Role": "r", "Targets": {}},
            **dict.fromkeys(("GetCrawler", "DeleteCrawler"), crawler),
            "GetCrawlers": {},
            "ListCrawlers": {},
            "BatchGetCrawlers": {"CrawlerNames": [self._name("crawler")]},
        }


def _lasting(shown: Any) -> Any:
    """Without what changes by itself: a run that nobody takes says so after a while."""
    if isinstance(shown, list):
        return [_lasting(each) for each in shown]
    if isinstance(shown, dict):
        passing = ("ResponseMetadata", "StateDetail")
        return {name: _lasting(value) for name, value in shown.items() if name not in passing}
    return shown
