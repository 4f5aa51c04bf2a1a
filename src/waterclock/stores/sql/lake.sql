-- name: insert_lake_job
INSERT INTO lake_jobs (id, org_id, display_name, folded_name, class_name, job_type, creator, source_id, trigger_id,
  every_minutes, schedule, created_at, updated_at)
VALUES (:id, :org_id, :display_name, :folded_name, :class_name, :job_type, :creator, :source_id, :trigger_id,
  :every_minutes, :schedule, :created_at, :updated_at)

-- name: update_lake_job
UPDATE lake_jobs SET display_name = :display_name, folded_name = :folded_name, job_type = :job_type,
  source_id = :source_id, trigger_id = :trigger_id, every_minutes = :every_minutes, schedule = :schedule,
  updated_at = :updated_at WHERE id = :id

-- name: delete_lake_job
-- It stays for its history.
UPDATE lake_jobs SET trigger_id = NULL, deleted_at = :now WHERE id = :id

-- name: forget_deleted_lake_jobs
-- None of their runs is younger than this.
DELETE FROM lake_jobs WHERE deleted_at < :before

-- name: hold_named_lake_sources
-- Until the job that names them is there: whoever deletes one sees it.
SELECT id, name, kind FROM lake_sources WHERE org_id = :org_id AND (id IN :ids OR name IN :names) ORDER BY id {lock}

-- name: lock_lake_job
-- Before its trigger and its job: of two who change one, the second sees what the first has made of it.
SELECT id, org_id, class_name, trigger_id, schedule FROM lake_jobs
WHERE id = :id AND org_id = :org_id AND deleted_at IS NULL {lock}

-- name: lake_job_exists
SELECT deleted_at FROM lake_jobs WHERE id = :id AND org_id = :org_id

-- name: lake_job_ids
-- One page, as many as match the pattern.
-- order job_id: l.id
-- order display_name: l.folded_name
-- order job_type: l.job_type
-- order creator_id: l.creator
-- order created_time: l.created_at
-- order updated_time: l.updated_at
-- order next_run_time?: t.next_fire_at
-- order last_run_time?: (SELECT COALESCE(a.started_at, a.run_at) FROM attempts f
--   JOIN runs r ON r.id = f.run_id AND r.run_at = f.run_at
--   JOIN attempts a ON a.run_id = r.id AND a.run_at = r.run_at AND a.number = r.attempts - 1
--   WHERE f.job_id = l.id AND f.number = 0 ORDER BY f.run_at DESC, f.id DESC LIMIT 1)
SELECT l.id FROM lake_jobs l LEFT JOIN triggers t ON t.id = l.trigger_id
WHERE l.org_id = :org_id AND l.deleted_at IS NULL AND l.folded_name LIKE :pattern ESCAPE '!'
ORDER BY l.id LIMIT :limit OFFSET :offset

-- name: count_lake_jobs
SELECT COUNT(*) AS total FROM lake_jobs
WHERE org_id = :org_id AND deleted_at IS NULL AND folded_name LIKE :pattern ESCAPE '!'

-- name: lake_jobs_by_ids
SELECT l.*, v.definition, t.next_fire_at FROM lake_jobs l
JOIN jobs j ON j.id = l.id
JOIN job_versions v ON v.job_id = j.id AND v.version = j.version
LEFT JOIN triggers t ON t.id = l.trigger_id
WHERE l.id IN :ids AND l.org_id = :org_id AND l.deleted_at IS NULL

-- name: last_runs_of_lake_jobs
-- Each by the index of its own attempts: a run by its first, past at most its retries. A run that lives is the last one,
-- even where it was due before another that has ended: it may have been late.
SELECT l.id AS job_id,
  COALESCE((SELECT r.id FROM runs r WHERE r.job_id = l.id AND r.state IN ('WAITING', 'STARTING', 'RUNNING', 'STOPPING')
    ORDER BY r.run_at DESC, r.id DESC LIMIT 1),
    (SELECT a.run_id FROM attempts a WHERE a.job_id = l.id AND a.number = 0
    ORDER BY a.run_at DESC, a.id DESC LIMIT 1)) AS last,
  (SELECT a.run_id FROM attempts a JOIN runs r ON r.id = a.run_id AND r.run_at = a.run_at
    WHERE a.job_id = l.id AND a.number = 0 AND r.ended_at IS NOT NULL
    ORDER BY a.run_at DESC, a.id DESC LIMIT 1) AS ended
FROM lake_jobs l WHERE l.id IN :ids

-- name: newest_attempts_of_runs
-- By which they are shown, with what only the runs know.
SELECT a.id, r.id AS run_id, r.job_id, r.progress, r.started_at, r.updated_at FROM runs r
JOIN attempts a ON a.run_id = r.id AND a.run_at = r.run_at AND a.number = r.attempts - 1
WHERE r.id IN :run_ids

-- name: live_attempt_ids_of_job
SELECT a.id FROM runs r JOIN attempts a ON a.run_id = r.id AND a.run_at = r.run_at
WHERE r.job_id = :job_id AND r.state IN ('WAITING', 'STARTING', 'RUNNING', 'STOPPING')
  AND a.state IN ('WAITING', 'STARTING', 'RUNNING', 'STOPPING')

-- name: lake_runs
-- One page of the organisation's, each run found by its first attempt, the youngest first. Who sorts by what only the run
-- knows has it looked up; for the others no database does so.
-- order run_id: f.run_id
-- order job_id: f.job_id
-- order start_time?: f.started_at
-- order end_time?: r.ended_at
-- order updated_time: r.updated_at
SELECT f.run_id FROM attempts f LEFT JOIN runs r ON r.id = f.run_id AND r.run_at = f.run_at
WHERE f.org_id = :org_id AND f.namespace = 'lake' AND f.number = 0
ORDER BY f.run_at DESC, f.id DESC LIMIT :limit OFFSET :offset

-- name: count_lake_runs
SELECT COUNT(*) AS total FROM attempts WHERE org_id = :org_id AND namespace = 'lake' AND number = 0

-- name: lake_runs_of_job
-- order run_id: f.run_id
-- order job_id: f.job_id
-- order start_time?: f.started_at
-- order end_time?: r.ended_at
-- order updated_time: r.updated_at
SELECT f.run_id FROM attempts f LEFT JOIN runs r ON r.id = f.run_id AND r.run_at = f.run_at
WHERE f.job_id = :job_id AND f.number = 0
ORDER BY f.run_at DESC, f.id DESC LIMIT :limit OFFSET :offset

-- name: count_lake_runs_of_job
SELECT COUNT(*) AS total FROM attempts WHERE job_id = :job_id AND number = 0

-- name: lake_runs_of_jobs
-- order run_id: f.run_id
-- order job_id: f.job_id
-- order start_time?: f.started_at
-- order end_time?: r.ended_at
-- order updated_time: r.updated_at
SELECT f.run_id FROM attempts f LEFT JOIN runs r ON r.id = f.run_id AND r.run_at = f.run_at
WHERE f.job_id IN :job_ids AND f.number = 0
ORDER BY f.run_at DESC, f.id DESC LIMIT :limit OFFSET :offset

-- name: count_lake_runs_of_jobs
SELECT COUNT(*) AS total FROM attempts WHERE job_id IN :job_ids AND number = 0

-- name: lake_job_ids_with_history
-- Also those that are gone.
SELECT id FROM lake_jobs WHERE org_id = :org_id AND folded_name LIKE :pattern ESCAPE '!'

-- name: lake_job_names
-- Also of those that are gone.
SELECT id, display_name, class_name, job_type FROM lake_jobs WHERE id IN :ids AND org_id = :org_id

-- name: insert_lake_table
INSERT INTO lake_tables (id, org_id, name, format, path, creator, created_at)
VALUES (:id, :org_id, :name, :format, :path, :creator, :created_at)

-- name: lake_table_by_name
SELECT id FROM lake_tables WHERE org_id = :org_id AND name = :name

-- name: lock_lake_table
SELECT creator FROM lake_tables WHERE org_id = :org_id AND name = :name {lock}

-- name: delete_lake_table
DELETE FROM lake_tables WHERE org_id = :org_id AND name = :name

-- name: lake_tables_of_org
SELECT name, format, path FROM lake_tables WHERE org_id = :org_id AND name LIKE :pattern ESCAPE '!'
ORDER BY name LIMIT :limit OFFSET :offset

-- name: count_lake_tables
SELECT COUNT(*) AS total FROM lake_tables WHERE org_id = :org_id AND name LIKE :pattern ESCAPE '!'

-- name: lake_tables_of_orgs
SELECT org_id, name, format, path FROM lake_tables WHERE org_id IN :org_ids ORDER BY org_id, name
