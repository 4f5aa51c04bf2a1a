-- name: shipped_log
SELECT wire_id, run_at, fence, ended_at FROM attempts WHERE id = :id AND org_id = :org_id

-- name: name_of_host
SELECT name FROM nodes WHERE host = :host ORDER BY heartbeat_at DESC LIMIT 1
