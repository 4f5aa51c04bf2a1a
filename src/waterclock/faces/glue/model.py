"""Which of Glue's actions are served, and Glue's own model of them."""

from typing import Final

from waterclock.faces.glue.service_model import ServiceModel

ACTIONS: Final = tuple(
    """
    CreateJob UpdateJob GetJob GetJobs ListJobs BatchGetJobs DeleteJob
    StartJobRun GetJobRun GetJobRuns BatchStopJobRun
    GetJobBookmark ResetJobBookmark
    CreateTrigger UpdateTrigger StartTrigger StopTrigger DeleteTrigger GetTrigger GetTriggers
    ListTriggers BatchGetTriggers
    CreateWorkflow UpdateWorkflow DeleteWorkflow GetWorkflow ListWorkflows BatchGetWorkflows
    StartWorkflowRun StopWorkflowRun ResumeWorkflowRun GetWorkflowRun GetWorkflowRuns
    GetWorkflowRunProperties PutWorkflowRunProperties
    TagResource UntagResource GetTags
    """.split()  # noqa: SIM905 (38 quoted names are harder to read)
)
# Kept and shown for the clients that make one, never run.
EXTRA: Final = ("CreateCrawler", "GetCrawler", "GetCrawlers", "ListCrawlers", "BatchGetCrawlers", "DeleteCrawler")

GLUE: Final = ServiceModel("glue", (*ACTIONS, *EXTRA))

validate = GLUE.validate
input_check = GLUE.input_check
input_shape = GLUE.input_shape
output_shape = GLUE.output_shape
shape = GLUE.shape
declared_errors = GLUE.declared_errors
