-- name: hold_station
-- A worker over HTTP, as it registered itself. Held, so that two of its calls never decide at the same time what it has.
SELECT id FROM nodes WHERE id = :node AND host = :host AND org_id = :org_id {lock}

-- name: attempts_at_station
-- Those of these attempts that a worker over HTTP of this organisation has claimed on this host.
SELECT id, fence, wire_id, run_at FROM attempts WHERE id IN :ids AND org_id = :org_id AND host = :host

-- name: arguments_at_station
-- Of an attempt whose lease is held there at this moment.
SELECT r.arguments FROM attempts a JOIN runs r ON r.id = a.run_id AND r.run_at = a.run_at
WHERE a.id = :id AND a.org_id = :org_id AND a.host = :host AND a.fence = :fence AND a.lease_until > :now
