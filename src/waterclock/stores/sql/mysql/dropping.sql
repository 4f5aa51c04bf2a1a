-- By the key, however small the table: going through all of it would wait for every row that somebody else holds.

-- name: lock_library_triggers
SELECT id AS trigger_id, name, schedule, misfire, next_fire_at, definition AS trigger_definition, tags,
  version AS trigger_version FROM triggers FORCE INDEX (PRIMARY) WHERE id IN :ids ORDER BY id FOR UPDATE

-- name: delete_triggers
DELETE t FROM triggers t FORCE INDEX (PRIMARY) WHERE t.id IN :ids

-- name: delete_jobs
DELETE j FROM jobs j FORCE INDEX (PRIMARY) WHERE j.id IN :ids

-- name: delete_versions_of_gone_jobs
DELETE v FROM job_versions v FORCE INDEX (PRIMARY) WHERE v.job_id IN :job_ids
  AND (SELECT j.id FROM jobs j WHERE j.id = v.job_id LIMIT 1) IS NULL
  AND (SELECT a.id FROM attempts a WHERE a.job_id = v.job_id LIMIT 1) IS NULL
