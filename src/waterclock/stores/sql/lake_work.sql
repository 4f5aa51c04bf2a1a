-- name: offers_at_station
-- What a worker of others was given and has said nothing of yet: the answer may have been lost. One whose lease is over is
-- lost; whoever decides that comes by.
SELECT a.id, a.state, a.fence, a.updated_at
FROM attempts a JOIN runs r ON r.id = a.run_id AND r.run_at = a.run_at
WHERE a.host = :host AND a.org_id = :org_id AND a.lease_until >= :now AND a.state IN ('STARTING', 'STOPPING')
  AND a.started_at IS NULL AND r.phase IS NULL ORDER BY a.id

-- name: repeat_offer
UPDATE attempts SET updated_at = :now WHERE id = :id AND fence = :fence AND state = 'STARTING'

-- name: take_offer
-- It was said to be queued over there: it is not offered again.
UPDATE runs SET phase = :phase, updated_at = :now WHERE id = :id AND run_at = :run_at AND state = 'STARTING'

-- name: lake_attempt_to_claim
-- The one that has waited longest, of the lake alone: a worker of others knows no other jobs.
SELECT id, run_at FROM attempts
WHERE state = 'STARTING' AND node IS NULL AND queue = :queue AND labels = '' AND role = '' AND org_id = :org_id
  AND namespace = :namespace AND due_at <= :now
ORDER BY due_at, id LIMIT 1 {skip_locked}

-- name: lake_attempt_that_waits
SELECT id FROM attempts
WHERE state = 'STARTING' AND node IS NULL AND queue = :queue AND labels = '' AND role = '' AND org_id = :org_id
  AND namespace = :namespace AND due_at <= :now LIMIT 1

-- name: attempts_of_run_at_station
-- The newest first, with what the run has said of itself.
SELECT a.id, a.number, a.state, r.phase, r.progress
FROM attempts a JOIN runs r ON r.id = a.run_id AND r.run_at = a.run_at
WHERE a.run_id = :run_id AND a.org_id = :org_id AND a.host = :host ORDER BY a.number DESC

-- name: live_lake_runs
-- Oldest first, each by its newest attempt: found by the jobs, of which there are fewer than runs.
SELECT a.id, r.job_id, r.progress, r.started_at, r.updated_at FROM lake_jobs l
JOIN runs r ON r.job_id = l.id AND r.state IN ('WAITING', 'STARTING', 'RUNNING', 'STOPPING')
JOIN attempts a ON a.run_id = r.id AND a.run_at = r.run_at AND a.number = r.attempts - 1
WHERE l.org_id = :org_id AND l.deleted_at IS NULL ORDER BY r.run_at, a.id LIMIT :limit

-- name: count_live_lake_runs
SELECT COUNT(*) AS total FROM lake_jobs l
JOIN runs r ON r.job_id = l.id AND r.state IN ('WAITING', 'STARTING', 'RUNNING', 'STOPPING')
WHERE l.org_id = :org_id AND l.deleted_at IS NULL
