-- name: insert_empty_bookmark
INSERT IGNORE INTO bookmarks (job_id, org_id, job_name, version, runs, attempt, updated_at)
SELECT id, org_id, name, 0, 0, 0, :now FROM jobs WHERE id = :job_id
