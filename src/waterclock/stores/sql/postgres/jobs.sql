-- name: hold_jobs_by_names
-- Not the versions: a lock is a write here.
SELECT j.*, v.spec, v.definition FROM jobs j JOIN job_versions v ON v.job_id = j.id AND v.version = j.version
WHERE j.org_id = :org_id AND j.namespace = :namespace AND j.name IN :names ORDER BY j.id FOR UPDATE OF j
