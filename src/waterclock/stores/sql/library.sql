-- Jobs of the library: each is a job and a trigger of one name. The trigger's row stands for both: whoever makes, changes
-- or removes one has that first.

-- name: insert_library_trigger
-- Two programs may add the same job at once: the second waits here for the first, and finds the name taken.
INSERT INTO triggers (id, org_id, namespace, name, owner, type, state, schedule, misfire, next_fire_at, version,
  generation, definition, tags, ticker, job_id, created_at, updated_at)
VALUES (:id, :org_id, :namespace, :name, :owner, 'SCHEDULED', :state, :schedule, :misfire, :next_fire_at, 1,
  1, :definition, :tags, :namespace, :job_id, :now, :now)
ON CONFLICT (org_id, namespace, name) DO NOTHING

-- name: present_triggers
SELECT id FROM triggers WHERE id IN :ids

-- Triggers and jobs are read apart and put together by their names: without statistics a planner may go through all of
-- these for each of those.

-- name: library_triggers
SELECT id AS trigger_id, name, schedule, misfire, next_fire_at, definition AS trigger_definition, tags,
  version AS trigger_version FROM triggers WHERE org_id = :org_id AND namespace = :namespace

-- name: library_triggers_by_names
SELECT id AS trigger_id, name, schedule, misfire, next_fire_at, definition AS trigger_definition, tags,
  version AS trigger_version FROM triggers WHERE org_id = :org_id AND namespace = :namespace
  AND name IN :names

-- name: lock_library_triggers
-- By number: whoever locks by name, and whoever deletes what he has locked by number, would wait for one another.
SELECT id AS trigger_id, name, schedule, misfire, next_fire_at, definition AS trigger_definition, tags,
  version AS trigger_version FROM triggers WHERE id IN :ids ORDER BY id {lock}

-- name: library_trigger_ids
SELECT id FROM triggers WHERE org_id = :org_id AND namespace = :namespace

-- name: library_trigger_ids_by_names
SELECT id FROM triggers WHERE org_id = :org_id AND namespace = :namespace AND name IN :names

-- name: jobs_of_library
SELECT j.id, j.name, j.version, v.spec, v.definition
FROM jobs j JOIN job_versions v ON v.job_id = j.id AND v.version = j.version
WHERE j.org_id = :org_id AND j.namespace = :namespace

-- name: jobs_of_library_by_names
SELECT j.id, j.name, j.version, v.spec, v.definition
FROM jobs j JOIN job_versions v ON v.job_id = j.id AND v.version = j.version
WHERE j.org_id = :org_id AND j.namespace = :namespace AND j.name IN :names

-- name: redefine_library_trigger
-- A new generation: an instant that it has fired before may fire again.
UPDATE triggers SET state = :state, schedule = :schedule, misfire = :misfire, next_fire_at = :next_fire_at,
  definition = :definition, tags = :tags, updated_at = :now, version = version + 1, generation = generation + 1
WHERE id = :id AND version = :was

-- name: quarantine_trigger
UPDATE triggers SET state = 'STOPPED', next_fire_at = NULL, tags = :tags, updated_at = :now, version = version + 1
WHERE id = :id

-- name: past_runs_of_job
-- Newest first, each with what its last attempt has left. The page is cut before anything is joined to it.
WITH a AS {materialized} (SELECT run_id, run_at FROM attempts WHERE job_id = :job_id AND number = 0
  ORDER BY run_at DESC, id DESC LIMIT :limit)
SELECT r.id, r.run_at, r.wire_id, r.state, r.started_at, r.ended_at, r.attempts, r.message, r.wait_reason,
  l.output
FROM a JOIN runs r ON r.id = a.run_id AND r.run_at = a.run_at
JOIN attempts l ON l.run_id = r.id AND l.number = r.attempts - 1 AND l.run_at = r.run_at

-- name: skipped_fires_of_trigger
-- Newest first; where a run was skipped because others lived, it is the run that tells.
WITH f AS {materialized} (SELECT id, fire_at, first_at, last_at, instants, reason FROM fires
  WHERE trigger_id = :trigger_id AND outcome = 'SKIPPED' ORDER BY fire_at DESC LIMIT :limit)
SELECT f.id, f.fire_at, f.first_at, f.last_at, f.instants, f.reason, r.wire_id, r.ended_at
FROM f LEFT JOIN runs r ON r.fire_id = f.id

-- name: any_organisation
SELECT id FROM organisations LIMIT 1

-- name: any_library_job
SELECT 1 AS found FROM triggers WHERE org_id = 1 AND namespace = :namespace LIMIT 1

-- name: table_of_apscheduler
-- A table of that name which is APScheduler's own: its rows are pickles.
SELECT 1 AS found FROM pragma_table_info(:name) WHERE name = 'job_state'
