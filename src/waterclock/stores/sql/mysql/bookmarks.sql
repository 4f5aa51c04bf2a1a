-- name: insert_empty_bookmark
INSERT INTO bookmarks (job_id, org_id, job_name, version, runs, attempt, updated_at)
VALUES (:job_id, :org_id, :job_name, 0, 0, 0, :now)
ON DUPLICATE KEY UPDATE job_id = bookmarks.job_id
