-- name: hold_jobs_by_names
-- Not the versions: a lock is a write here.
SELECT j.*, v.spec, v.definition FROM jobs j JOIN job_versions v ON v.job_id = j.id AND v.version = j.version
WHERE j.org_id = :org_id AND j.namespace = :namespace AND j.name IN :names ORDER BY j.id FOR UPDATE OF j

-- name: jobs_of_org
-- Each namespace by itself, in the order of its names: all of them at once would be read and sorted to the last.
SELECT j.*, v.spec, v.definition FROM (SELECT p.* FROM unnest(CAST(:namespaces AS TEXT[])) n,
    LATERAL (SELECT * FROM jobs WHERE org_id = :org_id AND namespace = n AND name >= :after
      AND (name > :after OR id > :after_id) ORDER BY name, id LIMIT :limit) p
  ORDER BY p.name, p.id LIMIT :limit) j,
  LATERAL (SELECT * FROM job_versions WHERE job_id = j.id AND version = j.version OFFSET 0) v
ORDER BY j.name, j.id
