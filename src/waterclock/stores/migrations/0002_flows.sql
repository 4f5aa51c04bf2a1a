-- Flows (Glue's workflows, later chains), conditional triggers, and what the whole Glue face keeps beside them:
-- bookmarks, secrets, groups, calls that must not count twice, crawlers, the audit. Marks as in 0001.

CREATE TABLE flows (
  id BIGINT NOT NULL PRIMARY KEY,
  org_id BIGINT NOT NULL,
  namespace VARCHAR(16) NOT NULL,
  name VARCHAR(255) NOT NULL,
  owner VARCHAR(255) NOT NULL,
  max_concurrent INTEGER NOT NULL,
  properties {text} NOT NULL,
  definition {text} NOT NULL,
  tags {text} NOT NULL,
  version BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  UNIQUE (org_id, namespace, name)
);

CREATE TABLE flow_runs (
@sqlite   id INTEGER NOT NULL PRIMARY KEY,
@server   id BIGINT NOT NULL PRIMARY KEY,
  run_at BIGINT NOT NULL,
  org_id BIGINT NOT NULL,
  namespace VARCHAR(16) NOT NULL,
  wire_id VARCHAR(80) NOT NULL UNIQUE,
  flow_id BIGINT NOT NULL,
  flow_name VARCHAR(255) NOT NULL,
  owner VARCHAR(255) NOT NULL,
  requested_by VARCHAR(255) NOT NULL,
  fire_id BIGINT,
  trigger_id BIGINT,
  trigger_name VARCHAR(255),
  previous_wire_id VARCHAR(80),
  state VARCHAR(16) NOT NULL CHECK (state IN ('RUNNING', 'COMPLETED', 'STOPPING', 'STOPPED', 'ERROR')),
  message {text},
  graph {text} NOT NULL,
  fired {text} NOT NULL,
  properties {text} NOT NULL,
  created_at BIGINT NOT NULL,
  ended_at BIGINT,
  updated_at BIGINT NOT NULL
);
CREATE INDEX flow_runs_of_flow ON flow_runs (flow_id, run_at, id);
@partial CREATE INDEX flow_runs_live ON flow_runs (flow_id) WHERE state IN ('RUNNING', 'STOPPING');
@mysql CREATE INDEX flow_runs_live ON flow_runs (flow_id, state);
@partial CREATE INDEX flow_runs_ended ON flow_runs (ended_at) WHERE ended_at IS NOT NULL;
@mysql CREATE INDEX flow_runs_ended ON flow_runs (ended_at);

-- The ledger of a flow run: a node that has a row here was started, or skipped, and never is again. `outcome` is the
-- state in which it ended; a resumed run keeps the rows of the nodes that it carries over.
CREATE TABLE flow_nodes (
  flow_run_id BIGINT NOT NULL,
  node VARCHAR(255) NOT NULL,
  run_id BIGINT,
  run_at BIGINT,
  outcome VARCHAR(16),
  PRIMARY KEY (flow_run_id, node)
);

-- What a CONDITIONAL trigger waits for. `met_at` is the end that met it since the trigger fired last: only of triggers
-- outside a flow, a flow's are in its graph.
CREATE TABLE trigger_conditions (
  trigger_id BIGINT NOT NULL,
  condition_no INTEGER NOT NULL,
  org_id BIGINT NOT NULL,
  namespace VARCHAR(16) NOT NULL,
  target VARCHAR(16) NOT NULL CHECK (target IN ('job', 'flow', 'crawler')),
  name VARCHAR(255) NOT NULL,
  state VARCHAR(16) NOT NULL,
  met_at BIGINT,
  met_by VARCHAR(100),
  PRIMARY KEY (trigger_id, condition_no)
);
CREATE INDEX trigger_conditions_of_target ON trigger_conditions (org_id, namespace, name);
CREATE INDEX triggers_of_flow ON triggers (org_id, namespace, flow_name);
ALTER TABLE triggers ADD COLUMN logical VARCHAR(8);
-- No more runs of the job than this are live; NULL: nobody has counted. Kept only where the cap is high.
ALTER TABLE jobs ADD COLUMN live_ceiling BIGINT;

-- One bookmark a job; `runs` counts the runs that saved one, `version` the resets.
CREATE TABLE bookmarks (
  job_id BIGINT NOT NULL PRIMARY KEY,
  org_id BIGINT NOT NULL,
  job_name VARCHAR(255) NOT NULL,
  version INTEGER NOT NULL,
  runs INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  wire_id VARCHAR(100),
  previous_wire_id VARCHAR(100),
  content {text},
  updated_at BIGINT NOT NULL
);

-- Calls that a client may repeat after a lost answer: the first answer is given again.
CREATE TABLE idempotent_calls (
  digest VARCHAR(64) NOT NULL PRIMARY KEY,
  answer VARCHAR(255) NOT NULL,
  created_at BIGINT NOT NULL
);
CREATE INDEX idempotent_calls_by_time ON idempotent_calls (created_at);

CREATE TABLE crawlers (
  id BIGINT NOT NULL PRIMARY KEY,
  org_id BIGINT NOT NULL,
  name VARCHAR(255) NOT NULL,
  owner VARCHAR(255) NOT NULL,
  definition {text} NOT NULL,
  tags {text} NOT NULL,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  UNIQUE (org_id, name)
);

-- A group owns what is made in its name; its members change it together. An access key may speak for a group.
CREATE TABLE user_groups (
  id BIGINT NOT NULL PRIMARY KEY,
  org_id BIGINT NOT NULL,
  name VARCHAR(255) NOT NULL,
  created_at BIGINT NOT NULL,
  UNIQUE (org_id, name)
);
CREATE TABLE group_members (
  group_id BIGINT NOT NULL,
  user_id BIGINT NOT NULL,
  PRIMARY KEY (group_id, user_id)
);
CREATE INDEX group_members_of_user ON group_members (user_id);
ALTER TABLE access_keys ADD COLUMN group_id BIGINT;
ALTER TABLE tokens ADD COLUMN group_id BIGINT;

-- Every version that a secret ever had stays, sealed: old logs are masked with it.
CREATE TABLE secrets (
  org_id BIGINT NOT NULL,
  name VARCHAR(255) NOT NULL,
  version INTEGER NOT NULL,
  sealed {text} NOT NULL,
  owner VARCHAR(255) NOT NULL,
  description VARCHAR(1000) NOT NULL,
  created_by VARCHAR(255) NOT NULL,
  created_at BIGINT NOT NULL,
  deleted_at BIGINT,
  PRIMARY KEY (org_id, name, version)
);

-- Append-only: who called what, from where, and what became of it. An unknown caller has organisation 0.
CREATE TABLE audit (
  seq {auto},
  at BIGINT NOT NULL,
  org_id BIGINT NOT NULL,
  user_name VARCHAR(255) NOT NULL,
  address VARCHAR(64) NOT NULL,
  face VARCHAR(16) NOT NULL,
  action VARCHAR(64) NOT NULL,
  resource VARCHAR(255) NOT NULL,
  status INTEGER NOT NULL,
  error VARCHAR(64),
  ms INTEGER NOT NULL,
  request_id VARCHAR(64) NOT NULL
);
CREATE INDEX audit_of_org ON audit (org_id, at, seq);
CREATE INDEX audit_by_time ON audit (at);
-- How many bytes of a journal are in the audit: moved in the transaction that stores them.
CREATE TABLE audit_journals (
  id VARCHAR(36) NOT NULL PRIMARY KEY,
  stored BIGINT NOT NULL
);

INSERT INTO counters (kind, value) VALUES ('flow', 0), ('crawler', 0), ('group', 0);
