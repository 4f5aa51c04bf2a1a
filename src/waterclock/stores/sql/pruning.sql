-- name: old_runs
-- Finished long ago, with all their attempts; a page at a time, so that no transaction grows long.
SELECT id, run_at FROM runs WHERE ended_at < :before AND state IN :ended LIMIT :limit

-- name: delete_runs
DELETE FROM runs WHERE id IN :ids

-- name: delete_attempts_of_runs
DELETE FROM attempts WHERE run_id IN :ids

-- name: log_paths_of_runs
SELECT log_path FROM attempts WHERE run_id IN :ids AND log_path IS NOT NULL

-- name: old_flow_runs
SELECT id FROM flow_runs WHERE ended_at < :before LIMIT :limit

-- name: delete_nodes_of_flow_runs
DELETE FROM flow_nodes WHERE flow_run_id IN :ids

-- name: delete_flow_runs
DELETE FROM flow_runs WHERE id IN :ids

-- name: delete_old_fires
DELETE FROM fires WHERE fire_at < :before

-- name: delete_old_transitions
DELETE FROM transitions WHERE at < :before
