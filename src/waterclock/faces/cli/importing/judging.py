"""What becomes of a thing on a Waterclock server: refused, or different, and in which way. Values in, words out."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, Final

from waterclock.domain.errors import InvalidInput
from waterclock.faces.cli.importing.plan import Judgement
from waterclock.faces.cli.importing.thing import CREATE, Body, Kind, Thing, parts
from waterclock.faces.glue.job_spec import job_spec, kind_of
from waterclock.faces.glue.model import validate
from waterclock.faces.glue.trigger_spec import trigger_spec
from waterclock.runners.interpreters import NEEDS_ENGINE

WITHOUT_ENGINE: Final = ("python", "shell", "java")
# Members that are kept and shown, and that nothing here acts on.
KEPT: Final[Mapping[str, str]] = {
    "Connections": "Connections are kept and shown; nothing opens them: give the job its addresses and secrets itself",
    "SecurityConfiguration": "SecurityConfiguration is kept and shown; it encrypts nothing here",
    "SourceControlDetails": "SourceControlDetails are kept and shown; nothing is pulled",
    "CodeGenConfigurationNodes": "the visual graph is kept and shown; what runs is the script at ScriptLocation",
    "MaintenanceWindow": "MaintenanceWindow is kept and shown; nothing is restarted in it",
    "LogUri": "LogUri is kept and shown; logs stay with the server",
    "WorkerType": "the size (workers, capacity) is kept and shown; here a run gets what its worker's machine has",
}
# Of the arguments that Glue itself acts on, these are only passed on here.
PASSED_ON: Final = frozenset(
    {
        *("--extra-files", "--extra-jars", "--extra-py-files", "--class", "--scriptLocation", "--TempDir"),
        *(
            "--enable-auto-scaling",
            "--enable-glue-datacatalog",
            "--enable-spark-ui",
            "--spark-event-logs-path",
            "--conf",
        ),
        *("--python-modules-installer-option", "--user-jars-first", "--datalake-formats", "--continuous-log-logGroup"),
    }
)


def judge(thing: Thing, *, now: datetime) -> Judgement:
    refused = _refusal(thing, now)
    return Judgement(refused=refused, notes=() if refused else tuple(_NOTES[thing.kind](thing.body)))


def _refusal(thing: Thing, now: datetime) -> str | None:
    """What our own server would answer."""
    try:
        body = validate(CREATE[thing.kind], {**thing.body, "Tags": dict(thing.tags or {})})
        match thing.kind:
            case Kind.JOB:
                job_spec(body)
            case Kind.TRIGGER:
                trigger_spec(body, now=now)
    except InvalidInput as refused:
        return str(refused)
    return None


def _job_notes(job: Body) -> Iterator[str]:
    kind, command = kind_of(job["Command"]), job["Command"]
    if kind in NEEDS_ENGINE:
        yield f"Command {command['Name']!r} needs {NEEDS_ENGINE[kind]} on the worker: without it runs fail and say so"
    elif kind not in WITHOUT_ENGINE:
        yield f"Command {command['Name']!r} needs a program of that name in the setting `interpreters`"
    if command.get("ScriptLocation", "").startswith("s3://"):
        yield "the script is on S3: workers read it with their own credentials (settings s3_endpoint, s3_region)"
    if command.get("Name") == "gluestreaming" and "Timeout" not in job:
        yield "changes meaning: without a Timeout a run ends here after 48 hours"
    if job.get("ExecutionClass") == "FLEX":
        yield "ExecutionClass FLEX is kept and shown; runs start at once"
    yield from (words for member, words in KEPT.items() if job.get(member))
    given = {**job.get("DefaultArguments", {}), **job.get("NonOverridableArguments", {})}
    if passed_on := sorted(PASSED_ON & given.keys()):
        yield f"passed to the program, not acted on: {', '.join(passed_on)}"


def _trigger_notes(trigger: Body) -> Iterator[str]:
    if trigger["Type"] == "EVENT":
        yield "EVENT triggers are kept and stay CREATED: nothing here sends events"
    if len(trigger.get("Actions", ())) > 1:
        yield "changes meaning: under glue.rules = guarded its actions run one after another (aws: all at once)"
    if any("CrawlerName" in action for action in trigger.get("Actions", ())):
        yield "names a crawler: crawlers never run here; a fire that reaches one is recorded as SKIPPED"
    if any("CrawlState" in condition for condition in parts(trigger)):
        yield "waits for a crawler: crawlers never run here, so that condition is never met"


def _workflow_notes(_: Mapping[str, Any]) -> Iterator[str]:
    return iter(())


_NOTES: Final = {Kind.JOB: _job_notes, Kind.WORKFLOW: _workflow_notes, Kind.TRIGGER: _trigger_notes}
