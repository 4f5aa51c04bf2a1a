-- name: table_of_apscheduler
SELECT 1 AS found FROM information_schema.columns
WHERE table_schema = current_schema() AND table_name = :name AND column_name = 'job_state'
