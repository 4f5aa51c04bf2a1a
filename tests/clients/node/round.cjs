// One round with the AWS SDK for JavaScript: node round.cjs LOCATION SLEEPER PID_FILE. Prints what it saw as JSON.
"use strict";
const fs = require("node:fs");
const { setTimeout: pause } = require("node:timers/promises");
const sdk = require("@aws-sdk/client-glue");

const DEADLINE_MS = 60_000;
const LIVE = ["WAITING", "STARTING", "RUNNING", "STOPPING"];
const glue = new sdk.Glue({});

async function until(condition, otherwise) {
  for (const deadline = Date.now() + DEADLINE_MS; Date.now() < deadline; await pause(20)) {
    const answer = await condition();
    if (answer) return answer;
  }
  throw new Error(otherwise);
}

const make = (Name, ScriptLocation, more) =>
  glue.createJob({ Name, Role: "r", Command: { Name: "pythonshell", ScriptLocation }, ...more });

const ended = (JobName, RunId) =>
  until(async () => {
    const { JobRun } = await glue.getJobRun({ JobName, RunId });
    return LIVE.includes(JobRun.JobRunState) ? null : JobRun;
  }, `${RunId} never ended`);

async function refused(call) {
  try {
    await call();
  } catch (error) {
    const { name, message, $metadata } = error;
    return { name, message, status: $metadata.httpStatusCode, typed: error instanceof (sdk[name] ?? Error) };
  }
  throw new Error("was not refused");
}

async function runs(location) {
  await make("load", location, { ExecutionProperty: { MaxConcurrentRuns: 3 } });
  const ids = [];
  for (let n = 0; n < 3; n++) ids.push((await glue.startJobRun({ JobName: "load", Arguments: { "--n": `${n}` } })).JobRunId);
  const states = [];
  for (const id of ids) states.push((await ended("load", id)).JobRunState);
  const pages = [];
  for await (const page of sdk.paginateGetJobRuns({ client: glue, pageSize: 2 }, { JobName: "load" }))
    pages.push(page.JobRuns.map((run) => [run.Id, run.Arguments["--n"], run.CompletedOn instanceof Date]));
  return { ids, states, pages };
}

async function trigger() {
  const Name = "noon";
  await glue.createTrigger({ Name, Type: "SCHEDULED", Schedule: "cron(15 12 * * ? *)", Actions: [{ JobName: "load" }] });
  const state = async () => (await glue.getTrigger({ Name })).Trigger.State;
  const states = [await state()];
  for (const act of [() => glue.startTrigger({ Name }), () => glue.stopTrigger({ Name })]) {
    await act();
    states.push(await state());
  }
  await glue.deleteTrigger({ Name });
  return { states, left: (await glue.listTriggers({})).TriggerNames };
}

async function workflow() {
  const [Name, WorkflowName] = ["etl", "etl"];
  await glue.createWorkflow({ Name, DefaultRunProperties: { region: "north" } });
  const Conditions = [{ LogicalOperator: "EQUALS", JobName: "load", State: "SUCCEEDED" }];
  await make("report", (await glue.getJob({ JobName: "load" })).Job.Command.ScriptLocation);
  await glue.createTrigger({ Name: "go", Type: "ON_DEMAND", WorkflowName, Actions: [{ JobName: "load" }] });
  const then = { Type: "CONDITIONAL", WorkflowName, Predicate: { Conditions }, StartOnCreation: true };
  await glue.createTrigger({ Name: "then", Actions: [{ JobName: "report" }], ...then });
  const { RunId } = await glue.startWorkflowRun({ Name });
  const run = await until(async () => {
    const { Run } = await glue.getWorkflowRun({ Name, RunId, IncludeGraph: true });
    return Run.Status === "RUNNING" ? null : Run;
  }, "the workflow never ended");
  const { RunProperties } = await glue.getWorkflowRunProperties({ Name, RunId });
  return { status: run.Status, nodes: run.Graph.Nodes.length, succeeded: run.Statistics.SucceededActions, RunProperties };
}

async function tags() {
  const ResourceArn = "arn:aws:glue:us-east-1:123456789012:job/load";
  await glue.tagResource({ ResourceArn, TagsToAdd: { team: "data", stage: "test" } });
  await glue.untagResource({ ResourceArn, TagsToRemove: ["stage"] });
  const listed = (await glue.listJobs({ Tags: { team: "data" } })).JobNames;
  return { tags: (await glue.getTags({ ResourceArn })).Tags, listed };
}

async function stop(sleeper, pidFile) {
  await make("sleeper", sleeper);
  const { JobRunId } = await glue.startJobRun({ JobName: "sleeper" });
  await until(() => fs.existsSync(pidFile), "the program did not start");
  const busy = await refused(() => glue.startJobRun({ JobName: "sleeper" }));
  const answer = await glue.batchStopJobRun({ JobName: "sleeper", JobRunIds: [JobRunId, "jr_0"] });
  const named = (list) => list.map((each) => each.JobRunId);
  const { JobRunState } = await ended("sleeper", JobRunId);
  return { JobRunId, busy, stopped: named(answer.SuccessfulSubmissions), errors: named(answer.Errors), JobRunState };
}

async function main([location, sleeper, pidFile]) {
  const saw = { runs: await runs(location), trigger: await trigger(), tags: await tags() };
  saw.workflow = await workflow();
  saw.errors = [
    await refused(() => glue.getJob({ JobName: "nobody" })),
    await refused(() => make("load", location)),
    await refused(() => make("late", location, { Timeout: 0 })),
    await refused(() => glue.listSessions({})),
  ];
  saw.stop = await stop(sleeper, pidFile);
  return saw;
}

main(process.argv.slice(2)).then((saw) => console.log(JSON.stringify(saw)));
