-- Sync jobs: where they read from, and who writes to a destination. Marks as in 0001; only additions, as from 0005 on.

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

INSERT INTO counters (kind, value) VALUES ('lake_source', 0);
