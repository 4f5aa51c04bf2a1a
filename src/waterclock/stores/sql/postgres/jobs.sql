-- name: hold_jobs_by_names
-- Not the versions: a lock is a write here.
SELECT j.*, v.spec, v.definition FROM jobs j JOIN job_versions v ON v.job_id = j.id AND v.version = j.version
WHERE j.org_id = :org_id AND j.namespace = :namespace AND j.name IN :names ORDER BY j.id FOR UPDATE OF j

-- name: hold_known_jobs
-- Runs that were decided from what is known of their jobs are written in the same statement, where this says yes. What
-- is compared is what the jobs are once they are locked, in the order of their numbers. Who is to be woken hears of it.
WITH clock AS MATERIALIZED (
  SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint + CAST(:offset_us AS BIGINT) AS now),
held AS MATERIALIZED (
  SELECT 1 FROM unnest(CAST(:ids AS BIGINT[]), CAST(:versions AS BIGINT[]), CAST(:rooms AS BIGINT[]))
      AS u(id, version, room),
    LATERAL (SELECT 1 FROM jobs WHERE id = u.id AND version = u.version
      AND (u.room IS NULL OR live_ceiling <= u.room) FOR UPDATE) j
  WHERE (SELECT now FROM clock) BETWEEN :about AND :until),
fit AS MATERIALIZED (SELECT COUNT(*) = CAST(:count AS BIGINT) AS yes FROM held)
SELECT now, yes, CASE WHEN yes THEN CAST(pg_notify(:channel, :message) AS TEXT) END AS told FROM clock, fit

-- name: jobs_of_org
-- Each namespace by itself, in the order of its names: all of them at once would be read and sorted to the last.
SELECT j.*, v.spec, v.definition FROM (SELECT p.* FROM unnest(CAST(:namespaces AS TEXT[])) n,
    LATERAL (SELECT * FROM jobs WHERE org_id = :org_id AND namespace = n AND name >= :after
      AND (name > :after OR id > :after_id) ORDER BY name, id LIMIT :limit) p
  ORDER BY p.name, p.id LIMIT :limit) j,
  LATERAL (SELECT * FROM job_versions WHERE job_id = j.id AND version = j.version OFFSET 0) v
ORDER BY j.name, j.id
