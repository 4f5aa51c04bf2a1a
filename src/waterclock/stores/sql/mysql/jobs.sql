-- name: count_live_runs_up_to
-- All of them, however many: a derived table sees nothing of the rows outside it here.
SELECT job_id, COUNT(*) AS live FROM runs
WHERE job_id IN :job_ids AND state IN ('WAITING', 'STARTING', 'RUNNING', 'STOPPING') AND :most > 0 GROUP BY job_id
