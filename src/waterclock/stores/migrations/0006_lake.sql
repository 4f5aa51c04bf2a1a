-- Lake jobs and the tables that their queries name. Marks as in 0001; only additions, as from 0005 on.

-- What their list is searched and sorted by; what they are is the job's own definition. One that was deleted stays, so that
-- its history still has a name.
CREATE TABLE lake_jobs (
  id BIGINT NOT NULL PRIMARY KEY,
  org_id BIGINT NOT NULL,
  display_name VARCHAR(255) NOT NULL,
  -- The same as it is searched for: whatever the case of its letters. A letter may become three.
  folded_name VARCHAR(1000) NOT NULL,
  class_name VARCHAR(32) NOT NULL,
  job_type VARCHAR(64) NOT NULL,
  creator VARCHAR(255) NOT NULL,
  source_id BIGINT,
  trigger_id BIGINT,
  -- Minutes between two of its runs, where its schedule has such a distance.
  every_minutes BIGINT,
  -- schedule_time as it was given, and what a sync remembers: the sync_data of the view JobScheduler.
  schedule {text} NOT NULL,
  watermark {text},
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  deleted_at BIGINT
);
CREATE INDEX lake_jobs_of_org ON lake_jobs (org_id, id);
-- Their history, past the runs of other faces: each run by its first attempt.
@partial CREATE INDEX attempts_of_lake ON attempts (org_id, run_at, id) WHERE namespace = 'lake' AND number = 0;

CREATE TABLE lake_tables (
  id BIGINT NOT NULL PRIMARY KEY,
  org_id BIGINT NOT NULL,
  name VARCHAR(255) NOT NULL,
  format VARCHAR(16) NOT NULL,
  path VARCHAR(1000) NOT NULL,
  creator VARCHAR(255) NOT NULL,
  created_at BIGINT NOT NULL,
  UNIQUE (org_id, name)
);

INSERT INTO counters (kind, value) VALUES ('lake_table', 0);
