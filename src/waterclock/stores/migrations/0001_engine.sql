-- The engine's own tables. Times are microseconds in BIGINT; every row belongs to an organisation.
-- A line that begins with a mark is for some databases alone: @sqlite, @mysql, @server (both but SQLite), @partial
-- (those with partial indexes). SQLite has no partitions, and a key of its own rows is the fastest there.
-- Nothing has a foreign key into runs, and every key of fires, runs and attempts carries its time: they can be partitioned.

CREATE TABLE meta (
  name VARCHAR(64) NOT NULL PRIMARY KEY,
  value VARCHAR(1000) NOT NULL
);

CREATE TABLE counters (
  kind VARCHAR(32) NOT NULL PRIMARY KEY,
  value BIGINT NOT NULL
);

CREATE TABLE organisations (
  id BIGINT NOT NULL PRIMARY KEY,
  account VARCHAR(12) NOT NULL UNIQUE,
  name VARCHAR(255) NOT NULL,
  created_at BIGINT NOT NULL
);

CREATE TABLE users (
  id BIGINT NOT NULL PRIMARY KEY,
  org_id BIGINT NOT NULL,
  name VARCHAR(255) NOT NULL,
  role VARCHAR(16) NOT NULL CHECK (role IN ('viewer', 'operator', 'author', 'admin')),
  password_digest VARCHAR(255),
  created_at BIGINT NOT NULL,
  disabled_at BIGINT,
  UNIQUE (org_id, name)
);

CREATE TABLE access_keys (
  id VARCHAR(128) NOT NULL PRIMARY KEY,
  org_id BIGINT NOT NULL,
  user_id BIGINT NOT NULL,
  sealed_secret VARCHAR(1000) NOT NULL,
  created_at BIGINT NOT NULL,
  revoked_at BIGINT
);
CREATE INDEX access_keys_of_user ON access_keys (user_id);

CREATE TABLE tokens (
  id BIGINT NOT NULL PRIMARY KEY,
  org_id BIGINT NOT NULL,
  user_id BIGINT NOT NULL,
  name VARCHAR(255) NOT NULL,
  digest VARCHAR(64) NOT NULL UNIQUE,
  created_at BIGINT NOT NULL,
  expires_at BIGINT,
  revoked_at BIGINT
);
CREATE INDEX tokens_of_user ON tokens (user_id);

CREATE TABLE jobs (
  id BIGINT NOT NULL PRIMARY KEY,
  org_id BIGINT NOT NULL,
  namespace VARCHAR(16) NOT NULL,
  name VARCHAR(255) NOT NULL,
  owner VARCHAR(255) NOT NULL,
  kind VARCHAR(64) NOT NULL,
  version INTEGER NOT NULL,
  tags {text} NOT NULL,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  UNIQUE (org_id, namespace, name)
);

CREATE TABLE job_versions (
  job_id BIGINT NOT NULL,
  version INTEGER NOT NULL,
  org_id BIGINT NOT NULL,
  spec {text} NOT NULL,
  definition {text} NOT NULL,
  created_by VARCHAR(255) NOT NULL,
  created_at BIGINT NOT NULL,
  PRIMARY KEY (job_id, version)
);

CREATE TABLE triggers (
  id BIGINT NOT NULL PRIMARY KEY,
  org_id BIGINT NOT NULL,
  namespace VARCHAR(16) NOT NULL,
  name VARCHAR(255) NOT NULL,
  owner VARCHAR(255) NOT NULL,
  type VARCHAR(16) NOT NULL CHECK (type IN ('SCHEDULED', 'ON_DEMAND', 'CONDITIONAL', 'EVENT')),
  state VARCHAR(16) NOT NULL CHECK (state IN ('STANDBY', 'RUNNING', 'STOPPED')),
  expression VARCHAR(1000),
  schedule {text},
  misfire {text} NOT NULL,
  flow_name VARCHAR(255),
  next_fire_at BIGINT,
  version BIGINT NOT NULL,
  generation INTEGER NOT NULL,
  definition {text} NOT NULL,
  tags {text} NOT NULL,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  UNIQUE (org_id, namespace, name)
);
@partial CREATE INDEX triggers_due ON triggers (next_fire_at) WHERE state = 'RUNNING' AND next_fire_at IS NOT NULL;
@mysql CREATE INDEX triggers_due ON triggers (state, next_fire_at);

CREATE TABLE trigger_actions (
  trigger_id BIGINT NOT NULL,
  action_no INTEGER NOT NULL,
  org_id BIGINT NOT NULL,
  namespace VARCHAR(16) NOT NULL,
  target VARCHAR(16) NOT NULL CHECK (target IN ('job', 'flow', 'crawler')),
  name VARCHAR(255) NOT NULL,
  arguments {text} NOT NULL,
  timeout_seconds BIGINT,
  notify_after_seconds BIGINT,
  PRIMARY KEY (trigger_id, action_no)
);
CREATE INDEX trigger_actions_of_target ON trigger_actions (org_id, namespace, name);

CREATE TABLE fires (
@sqlite   id INTEGER NOT NULL PRIMARY KEY,
@server   id BIGINT NOT NULL,
  org_id BIGINT NOT NULL,
  trigger_id BIGINT NOT NULL,
  trigger_name VARCHAR(255) NOT NULL,
  generation INTEGER NOT NULL,
  fire_at BIGINT NOT NULL,
  outcome VARCHAR(16) NOT NULL CHECK (outcome IN ('FIRED', 'SKIPPED')),
  reason VARCHAR(1000),
  first_at BIGINT NOT NULL,
  last_at BIGINT NOT NULL,
  instants BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
@server   PRIMARY KEY (id, fire_at),
  UNIQUE (trigger_id, generation, fire_at)
);

CREATE TABLE runs (
@sqlite   id INTEGER NOT NULL PRIMARY KEY,
@server   id BIGINT NOT NULL,
  run_at BIGINT NOT NULL,
  org_id BIGINT NOT NULL,
  namespace VARCHAR(16) NOT NULL,
  wire_id VARCHAR(80) NOT NULL,
  job_id BIGINT,
  job_name VARCHAR(255) NOT NULL,
  job_version INTEGER,
  kind VARCHAR(64) NOT NULL,
  owner VARCHAR(255) NOT NULL,
  requested_by VARCHAR(255) NOT NULL,
  fire_id BIGINT,
  action_no INTEGER NOT NULL,
  has_next SMALLINT NOT NULL,
  trigger_id BIGINT,
  trigger_name VARCHAR(255),
  flow_run_id BIGINT,
  flow_node VARCHAR(255),
  previous_wire_id VARCHAR(255),
  state VARCHAR(16) NOT NULL CHECK (state IN ('WAITING', 'STARTING', 'RUNNING', 'STOPPING', 'SUCCEEDED', 'FAILED',
                                              'TIMEOUT', 'STOPPED', 'ERROR', 'EXPIRED', 'SKIPPED')),
  wait_reason VARCHAR(255),
  phase VARCHAR(32),
  progress {text},
  message {text},
  queue VARCHAR(64) NOT NULL,
  labels VARCHAR(255) NOT NULL,
  role VARCHAR(16) NOT NULL,
  arguments {text} NOT NULL,
  settings {text} NOT NULL,
  attempts INTEGER NOT NULL,
  retries INTEGER NOT NULL,
  retry_delay_us BIGINT NOT NULL,
  timeout_seconds BIGINT,
  notify_after_seconds BIGINT,
  notified_at BIGINT,
  created_at BIGINT NOT NULL,
  started_at BIGINT,
  ended_at BIGINT,
  updated_at BIGINT NOT NULL,
@server   PRIMARY KEY (id, run_at),
  UNIQUE (fire_id, action_no, run_at)
);
@partial CREATE INDEX runs_ended ON runs (ended_at) WHERE ended_at IS NOT NULL;
@mysql CREATE INDEX runs_ended ON runs (ended_at);
@partial CREATE INDEX runs_live_of_job ON runs (job_id, run_at, id) WHERE state IN ('WAITING', 'STARTING', 'RUNNING', 'STOPPING');
@partial CREATE INDEX runs_live_of_trigger ON runs (trigger_id) WHERE state IN ('WAITING', 'STARTING', 'RUNNING', 'STOPPING');
@partial CREATE INDEX runs_watched ON runs (started_at)
@partial   WHERE state = 'RUNNING' AND notify_after_seconds IS NOT NULL AND notified_at IS NULL;
@mysql CREATE INDEX runs_watched ON runs (state, notify_after_seconds);
@mysql CREATE INDEX runs_live_of_job ON runs (job_id, state, run_at, id);
@mysql CREATE INDEX runs_live_of_trigger ON runs (trigger_id, state);

CREATE TABLE attempts (
@sqlite   id INTEGER NOT NULL PRIMARY KEY,
@server   id BIGINT NOT NULL,
  run_at BIGINT NOT NULL,
  run_id BIGINT NOT NULL,
  org_id BIGINT NOT NULL,
  namespace VARCHAR(16) NOT NULL,
  job_id BIGINT,
  number INTEGER NOT NULL,
  wire_id VARCHAR(100) NOT NULL,
  state VARCHAR(16) NOT NULL CHECK (state IN ('WAITING', 'STARTING', 'RUNNING', 'STOPPING', 'SUCCEEDED', 'FAILED',
                                              'TIMEOUT', 'STOPPED', 'ERROR', 'EXPIRED')),
  fence BIGINT NOT NULL,
  node VARCHAR(36),
  host VARCHAR(36),
  lease_until BIGINT,
  due_at BIGINT NOT NULL,
  queue VARCHAR(64) NOT NULL,
  labels VARCHAR(255) NOT NULL,
  role VARCHAR(16) NOT NULL,
  pid BIGINT,
  pid_started_at BIGINT,
  handle {text},
  exit_code INTEGER,
  exit_signal INTEGER,
  cpu_us BIGINT,
  peak_rss_bytes BIGINT,
  message {text},
  log_path VARCHAR(1000),
  created_at BIGINT NOT NULL,
  started_at BIGINT,
  ended_at BIGINT,
  updated_at BIGINT NOT NULL,
@server   PRIMARY KEY (id, run_at),
  UNIQUE (wire_id, run_at),
  UNIQUE (run_id, number, run_at)
);
CREATE INDEX attempts_of_job ON attempts (job_id, run_at, id);
CREATE INDEX attempts_of_org ON attempts (org_id, run_at, id);
@partial CREATE INDEX attempts_to_claim ON attempts (queue, role, due_at, id) WHERE state = 'STARTING' AND node IS NULL;
@partial CREATE INDEX attempts_leased ON attempts (lease_until) WHERE lease_until IS NOT NULL;
@partial CREATE INDEX attempts_stopping ON attempts (node) WHERE state = 'STOPPING';
@partial CREATE INDEX attempts_of_host ON attempts (host) WHERE lease_until IS NOT NULL;
@mysql CREATE INDEX attempts_to_claim ON attempts (state, queue, role, due_at, id);
@mysql CREATE INDEX attempts_leased ON attempts (lease_until);
@mysql CREATE INDEX attempts_of_host ON attempts (host, lease_until);

CREATE TABLE transitions (
  seq {auto},
  org_id BIGINT NOT NULL,
  at BIGINT NOT NULL,
  moves {text} NOT NULL
);
CREATE INDEX transitions_by_time ON transitions (at);

CREATE TABLE nodes (
  id VARCHAR(36) NOT NULL PRIMARY KEY,
  host VARCHAR(36) NOT NULL,
  name VARCHAR(255) NOT NULL,
  duties VARCHAR(64) NOT NULL,
  role VARCHAR(16) NOT NULL,
  labels VARCHAR(255) NOT NULL,
  slots INTEGER NOT NULL,
  version VARCHAR(32) NOT NULL,
  pid BIGINT NOT NULL,
  skew_us BIGINT NOT NULL,
  started_at BIGINT NOT NULL,
  heartbeat_at BIGINT NOT NULL,
  stopped_at BIGINT
);

CREATE TABLE messages (
  id BIGINT NOT NULL PRIMARY KEY,
  org_id BIGINT NOT NULL,
  kind VARCHAR(32) NOT NULL,
  severity VARCHAR(16) NOT NULL,
  run_id BIGINT,
  subject VARCHAR(255) NOT NULL,
  body {text} NOT NULL,
  created_at BIGINT NOT NULL,
  read_at BIGINT
);
CREATE INDEX messages_of_org ON messages (org_id, created_at);

INSERT INTO counters (kind, value) VALUES
  ('run', 0), ('job', 0), ('trigger', 0), ('organisation', 0), ('user', 0), ('token', 0), ('message', 0);
