-- name: insert_lake_source
INSERT INTO lake_sources (id, org_id, name, kind, owner, creator, config, created_at, updated_at)
VALUES (:id, :org_id, :name, :kind, :owner, :creator, :config, :now, :now)

-- name: update_lake_source
UPDATE lake_sources SET name = :name, config = :config, updated_at = :now WHERE id = :id AND org_id = :org_id

-- name: delete_lake_source
DELETE FROM lake_sources WHERE id = :id AND org_id = :org_id

-- name: lake_source_by_id
SELECT * FROM lake_sources WHERE id = :id AND org_id = :org_id

-- name: lake_source_by_name
SELECT * FROM lake_sources WHERE name = :name AND org_id = :org_id

-- name: lock_lake_source
-- Of two who change one, the second sees what the first has made of it.
SELECT * FROM lake_sources WHERE id = :id AND org_id = :org_id {lock}

-- name: lake_sources_by_ids
-- Of whichever organisation: whoever asks compares.
SELECT * FROM lake_sources WHERE id IN :ids

-- name: lake_source_names
-- All of them: there are never many, and only we know which letters are the same in any case.
SELECT id, name FROM lake_sources WHERE org_id = :org_id ORDER BY name, id

-- name: lake_jobs_with_sources
-- Those that read this one, and all whose task may name it as a place to write to.
SELECT l.id, l.source_id, v.spec FROM lake_jobs l
JOIN jobs j ON j.id = l.id
JOIN job_versions v ON v.job_id = j.id AND v.version = j.version
WHERE l.org_id = :org_id AND l.deleted_at IS NULL AND (l.source_id = :source_id OR v.spec LIKE '%"source%')
ORDER BY l.id
