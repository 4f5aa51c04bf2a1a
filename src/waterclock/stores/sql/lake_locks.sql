-- name: lock_lake_locks
-- With the attempt that took each last: it holds while that lives.
SELECT name, destination, attempt_id, run_at FROM lake_locks WHERE name IN :names ORDER BY name {lock}

-- name: insert_lake_lock
-- Of nobody yet. Whoever comes second waits for the first, and finds it there.
INSERT INTO lake_locks (name, org_id, destination, attempt_id, run_at, taken_at)
VALUES (:name, :org_id, :destination, 0, 0, :now) ON CONFLICT (name) DO NOTHING

-- name: take_lake_locks
UPDATE lake_locks SET attempt_id = :attempt_id, run_at = :run_at, taken_at = :now WHERE name IN :names

-- name: unused_lake_locks
-- Taken, or made for somebody who had to wait, longer ago than this; the attempt of each may live still.
SELECT name, attempt_id, run_at FROM lake_locks WHERE taken_at < :before ORDER BY name LIMIT :limit {skip_locked}

-- name: delete_lake_locks
DELETE FROM lake_locks WHERE name IN :names

-- name: living_attempts
-- Those of these that have not ended, with the names of their jobs.
SELECT a.id, r.job_name FROM attempts a JOIN runs r ON r.id = a.run_id AND r.run_at = a.run_at
WHERE a.id IN :ids AND a.run_at IN :run_ats AND a.state IN :live

-- name: explain_starting_run
-- Why it has not begun; '' once it may. Asked twice a second, it writes what is new.
UPDATE runs SET wait_reason = NULLIF(:wait_reason, ''), updated_at = :now
WHERE id = :id AND run_at = :run_at AND state = 'STARTING' AND COALESCE(wait_reason, '') <> :wait_reason
