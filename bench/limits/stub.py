"""A bare Starlette app with orjson that answers as the Glue API does, of the same size, with no store and no checks."""

import orjson
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

RUN = {
    "Id": "jr_0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
    "Attempt": 0,
    "JobName": "bench 1",
    "StartedOn": 1_794_880_000.123,
    "LastModifiedOn": 1_794_880_000.123,
    "JobRunState": "STARTING",
    "Arguments": {},
    "PredecessorRuns": [],
    "ExecutionTime": 0,
    "Timeout": 2880,
    "LogGroupName": "/aws-glue/python-jobs",
}


async def answer(request: Request) -> Response:
    asked = orjson.loads(await request.body())
    match request.headers["x-amz-target"].partition(".")[2]:
        case "CreateJob":
            answered: dict[str, object] = {"Name": asked["Name"]}
        case "StartJobRun":
            answered = {"JobRunId": RUN["Id"]}
        case _:
            answered = {"JobRun": {**RUN, "JobName": asked["JobName"], "Id": asked["RunId"]}}
    return Response(orjson.dumps(answered), media_type="application/x-amz-json-1.1")


app = Starlette(routes=[Route("/", answer, methods=["POST"])])
