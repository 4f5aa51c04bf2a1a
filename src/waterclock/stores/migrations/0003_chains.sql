-- Chains: what operators define, the roles that run them, and the messages that tell of them. Marks as in 0001.
-- A chain is a flow of the namespace `chains`, a trigger and one job, all three named chain-<id>; these tables hold what
-- its face shows.

CREATE TABLE chains (
  id BIGINT NOT NULL PRIMARY KEY,
  org_id BIGINT NOT NULL,
  owner VARCHAR(255) NOT NULL,
  flow_id BIGINT NOT NULL UNIQUE,
  job_desc VARCHAR(255),
  timestr VARCHAR(255) NOT NULL,
  timezone VARCHAR(64) NOT NULL,
  dep_ot DOUBLE PRECISION,
  is_on SMALLINT NOT NULL,
  main_flag SMALLINT NOT NULL,
  bkp_flag SMALLINT NOT NULL,
  tag VARCHAR(45),
  subtag VARCHAR(45),
  is_parallel SMALLINT NOT NULL,
  dep_err_tolerance INTEGER NOT NULL,
  probe_seconds DOUBLE PRECISION,
  source VARCHAR(255),
  version BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL
);
CREATE INDEX chains_of_org ON chains (org_id, id);
-- What an import brought in once is found again by it, and never made twice.
CREATE UNIQUE INDEX chains_of_source ON chains (org_id, source);

CREATE TABLE chain_gates (
  id BIGINT NOT NULL PRIMARY KEY,
  chain_id BIGINT NOT NULL,
  position INTEGER NOT NULL,
  env VARCHAR(1024) NOT NULL,
  command VARCHAR(1000) NOT NULL,
  description VARCHAR(255),
  ottime DOUBLE PRECISION NOT NULL,
  updated_at BIGINT NOT NULL
);
CREATE INDEX chain_gates_of_chain ON chain_gates (chain_id, position);

CREATE TABLE chain_steps (
  id BIGINT NOT NULL PRIMARY KEY,
  chain_id BIGINT NOT NULL,
  position INTEGER NOT NULL,
  env VARCHAR(1024) NOT NULL,
  command VARCHAR(1000) NOT NULL,
  step_lvl INTEGER NOT NULL,
  job_desc VARCHAR(255),
  ottime DOUBLE PRECISION NOT NULL,
  updated_at BIGINT NOT NULL
);
CREATE INDEX chain_steps_of_chain ON chain_steps (chain_id, position);

-- What a chain that is gone has left behind is found by its flow, until it is old.
CREATE TABLE deleted_chains (
  flow_id BIGINT NOT NULL PRIMARY KEY,
  deleted_at BIGINT NOT NULL
);

-- A chain's graph is compiled when it is defined; a workflow's is made of its triggers, and has none here.
ALTER TABLE flows ADD COLUMN graph {text};
-- Which workers may run it: main, bkp, both with a comma, or empty: any.
ALTER TABLE flows ADD COLUMN roles VARCHAR(16) DEFAULT '' NOT NULL;
-- The one role that runs this run; it is changed only while nothing of it has begun.
ALTER TABLE flow_runs ADD COLUMN role VARCHAR(16) DEFAULT '' NOT NULL;
ALTER TABLE flow_runs ADD COLUMN gates_passed_at BIGINT;
@partial CREATE INDEX flow_runs_of_role ON flow_runs (role) WHERE state IN ('RUNNING', 'STOPPING') AND role <> '';
@mysql CREATE INDEX flow_runs_of_role ON flow_runs (role, state);
-- A gate's run has its probes as attempts, until this moment.
ALTER TABLE runs ADD COLUMN probe_until BIGINT;
-- Chains' runs are kept as long as their tag says, others all for the same time: whoever looks for old ones of these
-- must not go through years of those.
@partial DROP INDEX runs_ended;
@partial CREATE INDEX runs_ended ON runs (ended_at) WHERE ended_at IS NOT NULL AND namespace <> 'chains';
@partial DROP INDEX flow_runs_ended;
@partial CREATE INDEX flow_runs_ended ON flow_runs (ended_at) WHERE ended_at IS NOT NULL AND namespace <> 'chains';
@mysql ALTER TABLE runs ADD COLUMN old_at BIGINT AS (CASE WHEN namespace <> 'chains' THEN ended_at END) VIRTUAL,
@mysql   DROP INDEX runs_ended, ADD INDEX runs_ended (old_at);
@mysql ALTER TABLE flow_runs ADD COLUMN old_at BIGINT AS (CASE WHEN namespace <> 'chains' THEN ended_at END) VIRTUAL,
@mysql   DROP INDEX flow_runs_ended, ADD INDEX flow_runs_ended (old_at);
ALTER TABLE attempts ADD COLUMN verdict VARCHAR(16);
ALTER TABLE attempts ADD COLUMN output {text};
ALTER TABLE nodes ADD COLUMN debugmode VARCHAR(16) DEFAULT '' NOT NULL;

ALTER TABLE messages ADD COLUMN chain_id BIGINT;
ALTER TABLE messages ADD COLUMN flow_run_id BIGINT;
ALTER TABLE messages ADD COLUMN tag VARCHAR(45);
ALTER TABLE messages ADD COLUMN subtag VARCHAR(45);
-- The node that it is about, whose debugmode may mute it.
ALTER TABLE messages ADD COLUMN node VARCHAR(36);
-- NULL until somebody has decided which channels it goes to.
ALTER TABLE messages ADD COLUMN routed_at BIGINT;
UPDATE messages SET routed_at = created_at;
@partial CREATE INDEX messages_to_route ON messages (id) WHERE routed_at IS NULL;
@mysql CREATE INDEX messages_to_route ON messages (routed_at, id);
CREATE INDEX messages_of_chain ON messages (chain_id, id);
CREATE INDEX messages_in_order ON messages (org_id, id);
CREATE INDEX messages_by_age ON messages (created_at);

-- Where notices go; the address holds passwords, so it is sealed, and `shown` is what people see of it.
-- reported_at: since when operators know that it fails; NULL again once it works.
CREATE TABLE channels (
  org_id BIGINT NOT NULL,
  name VARCHAR(255) NOT NULL,
  sealed {text} NOT NULL,
  shown VARCHAR(1000) NOT NULL,
  rules {text} NOT NULL,
  is_on SMALLINT NOT NULL,
  owner VARCHAR(255) NOT NULL,
  last_sent_at BIGINT,
  last_failed_at BIGINT,
  last_error VARCHAR(1000),
  reported_at BIGINT,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  PRIMARY KEY (org_id, name)
);

-- One message on its way through one channel; the key says that it is never put on the way twice.
CREATE TABLE deliveries (
  message_id BIGINT NOT NULL,
  channel VARCHAR(255) NOT NULL,
  org_id BIGINT NOT NULL,
  state VARCHAR(16) NOT NULL CHECK (state IN ('QUEUED', 'SENT', 'FAILED')),
  tries INTEGER NOT NULL,
  due_at BIGINT NOT NULL,
  error VARCHAR(1000),
  created_at BIGINT NOT NULL,
  ended_at BIGINT,
  PRIMARY KEY (message_id, channel)
);
@partial CREATE INDEX deliveries_due ON deliveries (org_id, channel, due_at) WHERE state = 'QUEUED';
@mysql CREATE INDEX deliveries_due ON deliveries (state, org_id, channel, due_at);

INSERT INTO counters (kind, value) VALUES ('chain', 0), ('chain_part', 0);
