-- What has to look into every partition is a function there (stores/postgres/functions.sql).

-- name: attempts_to_claim
SELECT id, run_at FROM wc_attempts_to_claim(CAST(:queues AS TEXT[]), CAST(:roles AS TEXT[]), CAST(:labels AS TEXT[]),
  :org_id, :now, :limit)

-- name: next_claim
SELECT wc_next_claim(CAST(:queues AS TEXT[]), CAST(:roles AS TEXT[]), CAST(:labels AS TEXT[]), :org_id, :after) AS due_at

-- name: count_to_claim
SELECT wc_count_to_claim(CAST(:queues AS TEXT[]), CAST(:roles AS TEXT[]), CAST(:labels AS TEXT[]), :org_id, :now, :most)
  AS count

-- name: count_live_runs
SELECT job_id, live, active FROM wc_live_runs(CAST(:job_ids AS BIGINT[]), NULL)

-- name: count_live_runs_up_to
SELECT job_id, live FROM wc_live_runs(CAST(:job_ids AS BIGINT[]), :most)
