-- name: insert_node
INSERT INTO nodes (id, host, name, duties, role, labels, slots, version, pid, skew_us, started_at, heartbeat_at)
VALUES (:id, :host, :name, :duties, :role, :labels, :slots, :version, :pid, :skew_us, :now, :now)

-- name: beat
UPDATE nodes SET heartbeat_at = :now, skew_us = :skew_us WHERE id = :id

-- name: stop_node
UPDATE nodes SET stopped_at = :now, heartbeat_at = :now WHERE id = :id

-- name: nodes
SELECT * FROM nodes WHERE stopped_at IS NULL AND heartbeat_at > :since ORDER BY name, started_at, id

-- name: delete_old_nodes
DELETE FROM nodes WHERE heartbeat_at < :before

-- name: queue_sizes
SELECT state, COUNT(*) AS count FROM runs WHERE state IN ('WAITING', 'STARTING', 'RUNNING', 'STOPPING')
GROUP BY state

-- name: insert_message
INSERT INTO messages (id, org_id, kind, severity, run_id, subject, body, created_at)
VALUES (:id, :org_id, :kind, :severity, :run_id, :subject, :body, :created_at)

-- name: messages_of_org
SELECT * FROM messages WHERE org_id = :org_id AND id < :before ORDER BY id DESC LIMIT :limit
