-- name: insert_lake_lock
INSERT IGNORE INTO lake_locks (name, org_id, destination, attempt_id, run_at, taken_at)
VALUES (:name, :org_id, :destination, 0, 0, :now)
