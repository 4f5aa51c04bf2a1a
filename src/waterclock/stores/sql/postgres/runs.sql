-- name: whole_attempts
-- One by one through the keys: before the first ANALYZE of a table that fills quickly, a join would read all of it.
SELECT a.*, r.job_name, r.job_version, r.kind, r.owner, r.requested_by, r.trigger_id, r.trigger_name,
  r.previous_wire_id, r.wait_reason, r.phase, r.attempts, r.timeout_seconds, r.arguments, r.settings,
  r.probe_until
FROM unnest(CAST(:ids AS BIGINT[])) i, LATERAL (SELECT * FROM attempts WHERE id = i
    AND run_at BETWEEN :first_at AND :last_at OFFSET 0) a,
  LATERAL (SELECT * FROM runs WHERE id = a.run_id AND run_at = a.run_at
    AND run_at BETWEEN :first_at AND :last_at OFFSET 0) r

-- name: whole_attempts_by_wire_ids
-- The same; ids begin with the time.
SELECT a.*, r.job_name, r.job_version, r.kind, r.owner, r.requested_by, r.trigger_id, r.trigger_name,
  r.previous_wire_id, r.wait_reason, r.phase, r.attempts, r.timeout_seconds, r.arguments, r.settings,
  r.probe_until
FROM unnest(CAST(:wire_ids AS TEXT[])) w, LATERAL (SELECT * FROM attempts WHERE wire_id = w
    AND run_at BETWEEN :first_at AND :last_at OFFSET 0) a,
  LATERAL (SELECT * FROM runs WHERE id = a.run_id AND run_at = a.run_at
    AND run_at BETWEEN :first_at AND :last_at OFFSET 0) r
