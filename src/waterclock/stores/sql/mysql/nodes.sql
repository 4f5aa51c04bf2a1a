-- name: queue_loads
-- One index has all of it here.
SELECT queue, state, COUNT(*) AS count, MIN(CASE state WHEN 'STARTING' THEN due_at END) AS oldest FROM attempts
WHERE state IN ('WAITING', 'STARTING', 'RUNNING', 'STOPPING') GROUP BY state, queue
