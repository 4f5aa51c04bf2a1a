-- name: insert_node
INSERT INTO nodes (id, host, name, duties, role, debugmode, labels, slots, version, pid, skew_us, started_at,
  heartbeat_at)
VALUES (:id, :host, :name, :duties, :role, :debugmode, :labels, :slots, :version, :pid, :skew_us, :now, :now)

-- name: beat
UPDATE nodes SET heartbeat_at = :now, skew_us = :skew_us WHERE id = :id

-- name: stop_node
UPDATE nodes SET stopped_at = :now, heartbeat_at = :now WHERE id = :id

-- name: role_heartbeats
-- The last sign of life of each role's workers; one that was stopped in good order is down at once.
SELECT role, MAX(heartbeat_at) AS heartbeat_at FROM nodes
WHERE stopped_at IS NULL AND role <> '' AND duties LIKE '%worker%' GROUP BY role

-- name: nodes
SELECT * FROM nodes WHERE stopped_at IS NULL AND heartbeat_at > :since ORDER BY name, started_at, id

-- name: delete_old_nodes
DELETE FROM nodes WHERE heartbeat_at < :before

-- name: queue_sizes
SELECT state, COUNT(*) AS count FROM runs WHERE state IN ('WAITING', 'STARTING', 'RUNNING', 'STOPPING')
GROUP BY state

-- name: insert_message
INSERT INTO messages (id, org_id, kind, severity, run_id, chain_id, flow_run_id, tag, subtag, node, subject, body,
  created_at)
VALUES (:id, :org_id, :kind, :severity, :run_id, :chain_id, :flow_run_id, :tag, :subtag, :node, :subject, :body,
  :created_at)

-- name: messages_of_org
SELECT * FROM messages WHERE org_id = :org_id AND id < :before ORDER BY id DESC LIMIT :limit

-- name: overdue_runs
-- Running longer than their job said would be usual, and nobody was told yet.
SELECT id, run_at, org_id, wire_id, job_name, notify_after_seconds FROM runs
WHERE state = 'RUNNING' AND notify_after_seconds IS NOT NULL AND notified_at IS NULL
  AND started_at + notify_after_seconds * 1000000 < :now
LIMIT :limit {skip_locked}

-- name: mark_notified
UPDATE runs SET notified_at = :now WHERE id = :id AND run_at = :run_at
