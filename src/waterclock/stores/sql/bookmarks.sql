-- name: lock_bookmarks
SELECT * FROM bookmarks WHERE job_id IN :job_ids ORDER BY job_id {lock}

-- name: jobs_to_bookmark
SELECT id AS job_id, org_id, name AS job_name FROM jobs WHERE id IN :job_ids ORDER BY id

-- name: insert_empty_bookmark
-- Another run of the same job may have been quicker.
INSERT INTO bookmarks (job_id, org_id, job_name, version, runs, attempt, updated_at)
VALUES (:job_id, :org_id, :job_name, 0, 0, 0, :now)
ON CONFLICT (job_id) DO NOTHING

-- name: update_bookmark
UPDATE bookmarks SET version = :version, runs = :runs, attempt = :attempt, wire_id = :wire_id,
  previous_wire_id = :previous_wire_id, content = :content, updated_at = :updated_at WHERE job_id = :job_id

-- name: bookmark_of_job
SELECT * FROM bookmarks WHERE job_id = :job_id

-- name: delete_bookmark
DELETE FROM bookmarks WHERE job_id = :job_id
