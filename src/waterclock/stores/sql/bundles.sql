-- name: insert_bundle
INSERT INTO bundles (id, namespace, node, host, lease_until, created_at, calls)
VALUES (:id, :namespace, :node, :host, :lease_until, :created_at, :calls)

-- name: hold_bundles
SELECT id FROM bundles WHERE id IN :ids ORDER BY id {lock}

-- name: bundles_of_node
SELECT * FROM bundles WHERE node = :node ORDER BY id {lock}

-- name: lost_bundles
SELECT * FROM bundles WHERE lease_until < :horizon AND (namespace = :namespace OR :namespace = '')
ORDER BY lease_until LIMIT :limit {skip_locked}

-- name: delete_bundles
DELETE FROM bundles WHERE id IN :ids

-- name: written_attempts
SELECT id FROM attempts WHERE id IN :ids

-- name: insert_ended_run
INSERT INTO runs (id, run_at, org_id, namespace, wire_id, job_id, job_name, job_version, kind, owner, requested_by,
  fire_id, action_no, has_next, trigger_id, trigger_name, flow_run_id, flow_node, previous_wire_id, state, wait_reason,
  message, queue, labels, role, arguments, settings, attempts, retries, retry_delay_us, retry_doubles,
  timeout_seconds, notify_after_seconds, probe_until, created_at, started_at, ended_at, updated_at)
VALUES (:id, :run_at, :org_id, :namespace, :wire_id, :job_id, :job_name, :job_version, :kind, :owner, :requested_by,
  :fire_id, :action_no, :has_next, :trigger_id, :trigger_name, :flow_run_id, :flow_node, :previous_wire_id, :state,
  :wait_reason, :message, :queue, :labels, :role, :arguments, :settings, :attempts, :retries, :retry_delay_us,
  :retry_doubles, :timeout_seconds, :notify_after_seconds, :probe_until, :created_at, :started_at, :ended_at,
  :updated_at)

-- name: insert_ended_attempt
INSERT INTO attempts (id, run_at, run_id, org_id, namespace, job_id, number, wire_id, state, fence, node, host,
  lease_until, due_at, queue, labels, role, memory_mb, message, output, pid, created_at, started_at, ended_at,
  updated_at)
VALUES (:id, :run_at, :run_id, :org_id, :namespace, :job_id, :number, :wire_id, :state, :fence, :node, :host,
  :lease_until, :due_at, :queue, :labels, :role, :memory_mb, :message, :output, :pid, :created_at, :started_at,
  :ended_at, :updated_at)
