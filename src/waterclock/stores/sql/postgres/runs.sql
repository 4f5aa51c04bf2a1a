-- name: attempts_to_claim
-- Each queue and role by itself, in the order of the index: all of them at once would be read and sorted to the last.
SELECT w.id AS id, w.run_at AS run_at FROM unnest(CAST(:queues AS TEXT[])) q, unnest(CAST(:roles AS TEXT[])) r,
  LATERAL (SELECT id, run_at, due_at FROM attempts
    WHERE state = 'STARTING' AND node IS NULL AND queue = q AND role = r AND labels IN :labels
      AND (org_id = :org_id OR :org_id = 0) AND due_at <= :now
    ORDER BY due_at, id LIMIT :limit {skip_locked}) w
ORDER BY w.due_at, w.id LIMIT :limit

-- name: whole_attempts
-- One by one through the keys: before the first ANALYZE of a table that fills quickly, a join would read all of it.
SELECT a.*, r.job_name, r.job_version, r.kind, r.owner, r.requested_by, r.trigger_id, r.trigger_name,
  r.previous_wire_id, r.wait_reason, r.phase, r.attempts, r.timeout_seconds, r.arguments, r.settings,
  r.probe_until
FROM unnest(CAST(:ids AS BIGINT[])) i, LATERAL (SELECT * FROM attempts WHERE id = i OFFSET 0) a,
  LATERAL (SELECT * FROM runs WHERE id = a.run_id AND run_at = a.run_at OFFSET 0) r
