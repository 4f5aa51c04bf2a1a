-- Sync jobs: where they read from, and who writes to a destination; and bundles of calls. Marks as in 0001; only
-- additions, as from 0005 on.

-- A source's passwords and keys are secrets: its config has their names.
CREATE TABLE lake_sources (
  id BIGINT NOT NULL PRIMARY KEY,
  org_id BIGINT NOT NULL,
  name VARCHAR(255) NOT NULL,
  kind VARCHAR(32) NOT NULL,
  owner VARCHAR(255) NOT NULL,
  creator VARCHAR(255) NOT NULL,
  config {text} NOT NULL,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  UNIQUE (org_id, name)
);

-- Held by an attempt for as long as it lives: its lease is the lock's, and whoever comes after it has ended takes over.
CREATE TABLE lake_locks (
  name VARCHAR(64) NOT NULL PRIMARY KEY,
  org_id BIGINT NOT NULL,
  destination VARCHAR(1000) NOT NULL,
  attempt_id BIGINT NOT NULL,
  run_at BIGINT NOT NULL,
  taken_at BIGINT NOT NULL
);

-- What a program has taken as it was fired, in one row until each call has ended or is seen to be long; then it has rows
-- of its own. Whoever finds one whose lease is over writes the rows of what is left in it.
CREATE TABLE bundles (
  id BIGINT NOT NULL PRIMARY KEY,
  namespace VARCHAR(16) NOT NULL,
  node VARCHAR(36) NOT NULL,
  host VARCHAR(36) NOT NULL,
  lease_until BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  calls {text} NOT NULL
);
CREATE INDEX bundles_leased ON bundles (lease_until);

INSERT INTO counters (kind, value) VALUES ('lake_source', 0);
