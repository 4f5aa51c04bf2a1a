-- name: old_runs
-- Finished long ago, with all their attempts; a page at a time, so that no transaction grows long. What a chain ran
-- goes with the chain's run; what is not before :until goes with its partition.
SELECT id, run_at, job_id FROM runs WHERE ended_at < :before AND state IN :ended
  AND namespace <> 'chains' AND run_at < :until LIMIT :limit

-- name: delete_runs
DELETE FROM runs WHERE id IN :ids AND run_at BETWEEN :first_at AND :last_at

-- name: delete_attempts_of_runs
DELETE FROM attempts WHERE run_id IN :ids AND run_at BETWEEN :first_at AND :last_at

-- name: delete_versions_of_gone_jobs
-- Of those jobs that are gone and have left no attempt that could need them. A look at each by itself: a planner that
-- joins may go through all attempts there are.
DELETE FROM job_versions WHERE job_id IN :job_ids
  AND (SELECT j.id FROM jobs j WHERE j.id = job_versions.job_id LIMIT 1) IS NULL
  AND (SELECT a.id FROM attempts a WHERE a.job_id = job_versions.job_id LIMIT 1) IS NULL

-- name: jobs_with_versions
-- One page, by number; some may be there, others gone.
SELECT DISTINCT job_id FROM job_versions WHERE job_id > :after ORDER BY job_id LIMIT :limit

-- name: log_paths_of_runs
SELECT log_path FROM attempts WHERE run_id IN :ids AND run_at BETWEEN :first_at AND :last_at AND log_path IS NOT NULL

-- name: old_flow_runs
SELECT id FROM flow_runs WHERE ended_at < :before AND namespace <> 'chains' LIMIT :limit

-- name: tags_of_flows
-- Of all chains; those that are gone have none.
SELECT flow_id, tag FROM chains UNION ALL SELECT flow_id, NULL FROM deleted_chains

-- name: old_runs_of_flows
-- A run is never earlier than the instant it was due: the index has that one.
SELECT id FROM flow_runs WHERE flow_id IN :flow_ids AND run_at < :before AND ended_at < :before LIMIT :limit

-- name: forget_deleted_chains
-- None of their runs is younger than this.
DELETE FROM deleted_chains WHERE deleted_at < :before

-- name: attempts_of_flow_runs
SELECT n.flow_run_id, n.run_id, n.run_at, r.attempts FROM flow_nodes n JOIN runs r ON r.id = n.run_id AND r.run_at = n.run_at
WHERE n.flow_run_id IN :flow_run_ids

-- name: delete_nodes_of_flow_runs
DELETE FROM flow_nodes WHERE flow_run_id IN :ids

-- name: delete_flow_runs
DELETE FROM flow_runs WHERE id IN :ids

-- name: first_fires
-- One page, by number: numbers grow with time, give or take what a process had drawn ahead. No index has their time alone.
SELECT id, fire_at FROM fires WHERE id > :after AND fire_at < :until ORDER BY id LIMIT :limit

-- name: delete_fires
DELETE FROM fires WHERE id IN :ids AND fire_at BETWEEN :first_at AND :last_at

-- name: old_transitions
SELECT seq FROM transitions WHERE at < :before LIMIT :limit

-- name: delete_transitions
DELETE FROM transitions WHERE seq IN :seqs
