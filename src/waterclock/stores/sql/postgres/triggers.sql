-- name: hold_as_they_were
-- What was made ready is written in the same statement, where this says yes. Job and trigger are locked, so that what is
-- compared is what they are now, not what they were when the statement began.
WITH clock AS MATERIALIZED (
  SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint + CAST(:offset_us AS BIGINT) AS now),
held AS MATERIALIZED (
  SELECT t.id FROM unnest(CAST(:trigger_ids AS BIGINT[]), CAST(:versions AS BIGINT[]), CAST(:job_ids AS BIGINT[]),
    CAST(:job_versions AS BIGINT[])) AS u(id, version, job_id, job_version), triggers t, jobs j
  WHERE t.id = u.id AND j.id = u.job_id AND (SELECT now FROM clock) BETWEEN :due_at AND :until
    AND CASE WHEN t.version = u.version AND j.version = u.job_version AND t.state = 'RUNNING'
      AND t.next_fire_at = :due_at THEN TRUE END
  FOR UPDATE OF t SKIP LOCKED FOR SHARE OF j SKIP LOCKED),
fit AS MATERIALIZED (SELECT COUNT(*) = CAST(:count AS BIGINT) AS yes FROM held)
SELECT now, yes FROM clock, fit
