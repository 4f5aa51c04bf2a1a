-- name: insert_node
INSERT INTO nodes (id, host, name, duties, role, debugmode, labels, slots, queues, memory_mb, org_id, version, pid,
  skew_us, started_at, heartbeat_at, draining_at)
VALUES (:id, :host, :name, :duties, :role, :debugmode, :labels, :slots, :queues, :memory_mb, :org_id, :version, :pid,
  :skew_us, :now, :now, :draining_at)

-- name: draining_of_node
SELECT draining_at, drained_at FROM nodes WHERE id = :id

-- name: beat
UPDATE nodes SET heartbeat_at = :now, skew_us = :skew_us, running = :running, late_us = :late_us,
  late_median_us = :late_median_us, late_most_us = :late_most_us, drained_at = :drained_at WHERE id = :id

-- name: node_before
-- Whoever had this data directory and these duties last.
SELECT draining_at, stopped_at FROM nodes WHERE host = :host AND duties = :duties ORDER BY started_at DESC LIMIT 1

-- name: node
SELECT * FROM nodes WHERE id = :id

-- name: drain_node
UPDATE nodes SET draining_at = :now, drained_at = NULL WHERE id = :id AND stopped_at IS NULL AND draining_at IS NULL

-- name: resume_node
UPDATE nodes SET draining_at = NULL, drained_at = NULL WHERE id = :id

-- name: stop_node
UPDATE nodes SET stopped_at = :now, heartbeat_at = :now WHERE id = :id

-- name: role_heartbeats
-- The last sign of life of each role's workers. One that was stopped in good order counts until its failover time is
-- over, like one that was killed: a restart takes nothing away from its role. One that drains takes no work any more.
-- A worker over HTTP is no sign of life: it runs nothing for the other organisations.
SELECT role, MAX(heartbeat_at) AS heartbeat_at, MAX(COALESCE(draining_at, heartbeat_at)) AS taken_at FROM nodes
WHERE role <> '' AND duties LIKE '%worker%' AND org_id IS NULL GROUP BY role

-- name: nodes
SELECT * FROM nodes WHERE stopped_at IS NULL AND heartbeat_at > :since ORDER BY name, started_at, id

-- name: live_workers
-- Who takes runs. One that drains takes none.
SELECT host, queues, labels, role, slots, running, memory_mb, org_id FROM nodes
WHERE stopped_at IS NULL AND draining_at IS NULL AND heartbeat_at > :since AND slots > 0

-- name: delete_old_nodes
DELETE FROM nodes WHERE heartbeat_at < :before

-- name: queue_sizes
SELECT state, COUNT(*) AS count FROM runs WHERE state IN ('WAITING', 'STARTING', 'RUNNING', 'STOPPING')
GROUP BY state

-- name: queue_loads
-- Live attempts by queue and state, each part by an index of its own: what nobody has taken, what somebody holds, what is
-- held back.
SELECT queue, state, COUNT(*) AS count, MIN(due_at) AS oldest FROM attempts
WHERE state = 'STARTING' AND node IS NULL GROUP BY queue, state
UNION ALL
SELECT queue, state, COUNT(*) AS count, NULL AS oldest FROM attempts
WHERE lease_until IS NOT NULL GROUP BY queue, state
UNION ALL
SELECT a.queue AS queue, a.state AS state, COUNT(*) AS count, NULL AS oldest
FROM runs r JOIN attempts a ON a.run_id = r.id AND a.run_at = r.run_at
WHERE r.state = 'WAITING' AND a.state = 'WAITING' GROUP BY a.queue, a.state

-- name: leases_of_node
SELECT COUNT(*) AS held FROM attempts WHERE host = :host AND lease_until IS NOT NULL AND node = :id

-- name: leases
SELECT COUNT(*) AS held, COUNT(CASE WHEN lease_until < :now THEN 1 END) AS overdue FROM attempts
WHERE lease_until IS NOT NULL
