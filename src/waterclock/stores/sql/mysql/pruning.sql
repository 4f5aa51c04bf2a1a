-- Without partial indexes: `old_at` is when it ended, of all but chains' runs.

-- name: old_runs
SELECT id, run_at, job_id FROM runs WHERE old_at < :before AND state IN :ended AND run_at < :until LIMIT :limit

-- name: old_flow_runs
SELECT id FROM flow_runs WHERE old_at < :before LIMIT :limit
