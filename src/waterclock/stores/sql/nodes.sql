-- name: insert_node
INSERT INTO nodes (id, host, name, duties, role, debugmode, labels, slots, version, pid, skew_us, started_at,
  heartbeat_at)
VALUES (:id, :host, :name, :duties, :role, :debugmode, :labels, :slots, :version, :pid, :skew_us, :now, :now)

-- name: beat
UPDATE nodes SET heartbeat_at = :now, skew_us = :skew_us WHERE id = :id

-- name: stop_node
UPDATE nodes SET stopped_at = :now, heartbeat_at = :now WHERE id = :id

-- name: role_heartbeats
-- The last sign of life of each role's workers. One that was stopped in good order counts until its failover time is
-- over, like one that was killed: a restart takes nothing away from its role.
SELECT role, MAX(heartbeat_at) AS heartbeat_at FROM nodes
WHERE role <> '' AND duties LIKE '%worker%' GROUP BY role

-- name: nodes
SELECT * FROM nodes WHERE stopped_at IS NULL AND heartbeat_at > :since ORDER BY name, started_at, id

-- name: delete_old_nodes
DELETE FROM nodes WHERE heartbeat_at < :before

-- name: queue_sizes
SELECT state, COUNT(*) AS count FROM runs WHERE state IN ('WAITING', 'STARTING', 'RUNNING', 'STOPPING')
GROUP BY state
