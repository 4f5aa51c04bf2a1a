-- name: insert_job
INSERT INTO jobs (id, org_id, namespace, name, owner, kind, version, tags, created_at, updated_at)
VALUES (:id, :org_id, :namespace, :name, :owner, :kind, :version, :tags, :created_at, :updated_at)

-- name: insert_job_version
-- Versions are never changed: a run's record stays true after its job is.
INSERT INTO job_versions (job_id, version, org_id, spec, definition, created_by, created_at)
VALUES (:job_id, :version, :org_id, :spec, :definition, :created_by, :created_at)

-- name: update_job
-- The cap may be another from now on: the ceiling is not known any more.
UPDATE jobs SET kind = :kind, version = :version, live_ceiling = NULL, updated_at = :updated_at
WHERE id = :id AND version = :was

-- name: delete_job
DELETE FROM jobs WHERE id = :id

-- name: delete_jobs
DELETE FROM jobs WHERE id IN :ids

-- name: present_jobs
SELECT id FROM jobs WHERE id IN :ids

-- name: job_by_name
SELECT j.*, v.spec, v.definition FROM jobs j JOIN job_versions v ON v.job_id = j.id AND v.version = j.version
WHERE j.org_id = :org_id AND j.namespace = :namespace AND j.name = :name

-- name: jobs_by_names
SELECT j.*, v.spec, v.definition FROM jobs j JOIN job_versions v ON v.job_id = j.id AND v.version = j.version
WHERE j.org_id = :org_id AND j.namespace = :namespace AND j.name IN :names

-- name: jobs_of_org
-- One page, by name and number; `after` and `after_id` are those of the last on the page before.
SELECT j.*, v.spec, v.definition FROM jobs j JOIN job_versions v ON v.job_id = j.id AND v.version = j.version
WHERE j.org_id = :org_id AND j.namespace IN :namespaces AND j.name >= :after
  AND (j.name > :after OR j.id > :after_id)
ORDER BY j.name, j.id LIMIT :limit

-- name: jobs_by_ids
SELECT j.*, v.spec, v.definition FROM jobs j JOIN job_versions v ON v.job_id = j.id AND v.version = j.version
WHERE j.id IN :ids

-- name: job_ids_of_triggers
-- The present jobs that these triggers' actions name.
SELECT DISTINCT j.id AS id FROM trigger_actions a
JOIN jobs j ON j.org_id = a.org_id AND j.namespace = a.namespace AND j.name = a.name
WHERE a.trigger_id IN :trigger_ids AND a.target = 'job'

-- name: lock_jobs
-- Whoever counts a job's runs holds its row; always in the order of ids, so that nobody waits in a circle.
SELECT id, version FROM jobs WHERE id IN :ids ORDER BY id {lock}

-- name: versions_now
SELECT id, version FROM jobs WHERE id IN :ids

-- name: hold_jobs_by_names
-- Found and locked in one go. A job that was changed while we waited for it may be missing: look again.
SELECT j.*, v.spec, v.definition FROM jobs j JOIN job_versions v ON v.job_id = j.id AND v.version = j.version
WHERE j.org_id = :org_id AND j.namespace = :namespace AND j.name IN :names ORDER BY j.id {lock}

-- name: share_jobs
-- Whoever adds runs without counting them only needs the jobs to stay as they are.
SELECT id, version FROM jobs WHERE id IN :ids ORDER BY id {share}

-- name: triggers_with_job
SELECT t.name AS name, t.state AS state FROM trigger_actions a JOIN triggers t ON t.id = a.trigger_id
WHERE a.org_id = :org_id AND a.namespace = :namespace AND a.name = :name AND a.target = 'job' ORDER BY t.name

-- name: count_live_runs
-- Per job: what is live, and what of it holds a slot.
SELECT job_id, COUNT(*) AS live, SUM(CASE WHEN state = 'WAITING' THEN 0 ELSE 1 END) AS active FROM runs
WHERE job_id IN :job_ids AND state IN ('WAITING', 'STARTING', 'RUNNING', 'STOPPING') GROUP BY job_id

-- name: count_live_runs_up_to
-- Per job, but no further than :most: whether there is room is known before a long queue has been counted.
SELECT j.id AS job_id, (SELECT COUNT(*) FROM (SELECT 1 FROM runs r WHERE r.job_id = j.id
  AND r.state IN ('WAITING', 'STARTING', 'RUNNING', 'STOPPING') LIMIT :most) AS first_live) AS live
FROM jobs j WHERE j.id IN :job_ids

-- name: live_ceilings
SELECT id, live_ceiling FROM jobs WHERE id IN :ids

-- name: set_live_ceiling
UPDATE jobs SET live_ceiling = :ceiling WHERE id = :id

-- name: raise_live_ceiling
-- What is not known stays so.
UPDATE jobs SET live_ceiling = live_ceiling + :more WHERE id = :id

-- name: versions_of_jobs
-- The versions that runs were made with, whether their jobs are still there or not, and what their last runs left.
SELECT v.job_id, v.version, v.spec, b.content AS bookmark
FROM job_versions v LEFT JOIN bookmarks b ON b.job_id = v.job_id
WHERE v.job_id IN :job_ids AND v.version IN :versions

-- name: job_ids_by_names
SELECT id FROM jobs WHERE org_id = :org_id AND namespace = :namespace AND name IN :names
