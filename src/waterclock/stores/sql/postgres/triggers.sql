-- name: hold_as_they_were
-- What was made ready is written in the same statement, where this says yes. Job and trigger are locked, so that what is
-- compared is what they are now, not what they were when the statement began. One by one through the keys: before the
-- first ANALYZE of a table that fills quickly, a join would read all of it. What fires for the last time goes, by the
-- place where it was found: nobody moves what is locked.
WITH clock AS MATERIALIZED (
  SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint + CAST(:offset_us AS BIGINT) AS now),
held AS MATERIALIZED (
  SELECT u.last, t.ctid AS trigger_place, j.ctid AS job_place
  FROM unnest(CAST(:trigger_ids AS BIGINT[]), CAST(:versions AS BIGINT[]), CAST(:job_ids AS BIGINT[]),
      CAST(:job_versions AS BIGINT[]), CAST(:last AS BOOLEAN[])) AS u(trigger_id, version, job_id, job_version, last),
    LATERAL (SELECT ctid FROM triggers WHERE id = u.trigger_id AND version = u.version AND state = 'RUNNING'
      AND next_fire_at = :due_at FOR UPDATE SKIP LOCKED) t,
    LATERAL (SELECT ctid FROM jobs WHERE id = u.job_id AND version = u.job_version FOR SHARE SKIP LOCKED) j
  WHERE (SELECT now FROM clock) BETWEEN :due_at AND :until),
fit AS MATERIALIZED (SELECT COUNT(*) = CAST(:count AS BIGINT) AS yes FROM held),
gone_triggers AS (DELETE FROM triggers
  WHERE ctid = ANY (ARRAY(SELECT trigger_place FROM held WHERE last)) AND (SELECT yes FROM fit)),
gone_jobs AS (DELETE FROM jobs WHERE ctid = ANY (ARRAY(SELECT job_place FROM held WHERE last)) AND (SELECT yes FROM fit))
SELECT now, yes FROM clock, fit
