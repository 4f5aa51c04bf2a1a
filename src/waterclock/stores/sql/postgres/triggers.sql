-- What is due next is looked for among the instants, a table that the database keeps (stores/postgres/instants.sql).

-- name: lock_due_triggers
-- What is compared is the trigger as it is once it is locked: it may have moved on since the statement began.
SELECT t.id, t.org_id, t.namespace, t.name, t.owner, t.schedule, t.misfire, t.flow_name, t.next_fire_at, t.version,
  t.generation, t.job_id
FROM trigger_instants i JOIN triggers t ON t.id = i.trigger_id
WHERE i.ticker = :ticker AND i.next_fire_at <= :now AND t.state = 'RUNNING' AND t.next_fire_at = i.next_fire_at
ORDER BY i.next_fire_at LIMIT :limit FOR UPDATE OF t SKIP LOCKED

-- name: triggers_due_at
SELECT t.id, t.org_id, t.namespace, t.name, t.owner, t.schedule, t.misfire, t.version, t.generation, t.job_id
FROM trigger_instants i JOIN triggers t ON t.id = i.trigger_id
WHERE i.ticker = :ticker AND i.next_fire_at = :due_at AND t.state = 'RUNNING' AND t.next_fire_at = i.next_fire_at
  AND t.flow_name IS NULL LIMIT :limit

-- name: next_due
SELECT MIN(next_fire_at) AS due_at FROM trigger_instants WHERE ticker = :ticker

-- name: hold_as_they_were
-- What was made ready is written in the same statement, where this says yes. Job and trigger are locked, so that what is
-- compared is what they are now, not what they were when the statement began. One by one through the keys: before the
-- first ANALYZE of a table that fills quickly, a join would read all of it. What fires for the last time goes by its key:
-- one that was touched since the statement began has another place, which this statement does not see.
WITH clock AS MATERIALIZED (
  SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint + CAST(:offset_us AS BIGINT) AS now),
held AS MATERIALIZED (
  SELECT u.last, u.trigger_id, u.job_id
  FROM unnest(CAST(:trigger_ids AS BIGINT[]), CAST(:versions AS BIGINT[]), CAST(:job_ids AS BIGINT[]),
      CAST(:job_versions AS BIGINT[]), CAST(:last AS BOOLEAN[])) AS u(trigger_id, version, job_id, job_version, last),
    LATERAL (SELECT 1 FROM triggers WHERE id = u.trigger_id AND version = u.version AND state = 'RUNNING'
      AND next_fire_at = :due_at FOR UPDATE SKIP LOCKED) t,
    LATERAL (SELECT 1 FROM jobs WHERE id = u.job_id AND version = u.job_version FOR SHARE SKIP LOCKED) j
  WHERE (SELECT now FROM clock) BETWEEN :due_at AND :until),
fit AS MATERIALIZED (SELECT COUNT(*) = CAST(:count AS BIGINT) AS yes FROM held),
gone_triggers AS (DELETE FROM triggers
  WHERE id = ANY (ARRAY(SELECT trigger_id FROM held WHERE last)) AND (SELECT yes FROM fit)),
gone_jobs AS (DELETE FROM jobs WHERE id = ANY (ARRAY(SELECT job_id FROM held WHERE last)) AND (SELECT yes FROM fit))
SELECT now, yes FROM clock, fit

-- name: triggers_of_org
-- Each namespace by itself, in the order of its names: all of them at once would be read and sorted to the last.
SELECT p.* FROM unnest(CAST(:namespaces AS TEXT[])) n,
  LATERAL (SELECT * FROM triggers WHERE org_id = :org_id AND namespace = n AND name >= :after
    AND (name > :after OR id > :after_id) ORDER BY name, id LIMIT :limit) p
ORDER BY p.name, p.id LIMIT :limit
