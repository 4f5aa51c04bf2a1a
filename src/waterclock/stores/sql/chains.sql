-- name: insert_chain
INSERT INTO chains (id, org_id, owner, flow_id, job_desc, timestr, timezone, dep_ot, is_on, main_flag, bkp_flag, tag,
  subtag, is_parallel, dep_err_tolerance, probe_seconds, source, version, created_at, updated_at)
VALUES (:id, :org_id, :owner, :flow_id, :job_desc, :timestr, :timezone, :dep_ot, :is_on, :main_flag, :bkp_flag, :tag,
  :subtag, :is_parallel, :dep_err_tolerance, :probe_seconds, :source, 1, :created_at, :updated_at)

-- name: update_chain
UPDATE chains SET job_desc = :job_desc, timestr = :timestr, timezone = :timezone, dep_ot = :dep_ot, is_on = :is_on,
  main_flag = :main_flag, bkp_flag = :bkp_flag, tag = :tag, subtag = :subtag, is_parallel = :is_parallel,
  dep_err_tolerance = :dep_err_tolerance, probe_seconds = :probe_seconds, version = version + 1,
  updated_at = :updated_at WHERE id = :id

-- name: switch_chain
UPDATE chains SET is_on = :is_on, version = version + 1, updated_at = :updated_at WHERE id = :id

-- name: delete_chain
DELETE FROM chains WHERE id = :chain_id

-- name: remember_deleted_chain
INSERT INTO deleted_chains (flow_id, deleted_at) VALUES (:flow_id, :now)

-- name: chain_exists
SELECT id FROM chains WHERE id = :id

-- name: chain_of_source
SELECT id FROM chains WHERE org_id = :org_id AND source = :source

-- name: chain_by_id
SELECT c.*, t.next_fire_at FROM chains c JOIN flows f ON f.id = c.flow_id
LEFT JOIN triggers t ON t.org_id = c.org_id AND t.namespace = 'chains' AND t.name = f.name
WHERE c.id = :id AND c.org_id = :org_id

-- name: chains_of_org
SELECT c.*, t.next_fire_at FROM chains c JOIN flows f ON f.id = c.flow_id
LEFT JOIN triggers t ON t.org_id = c.org_id AND t.namespace = 'chains' AND t.name = f.name
WHERE c.org_id = :org_id AND c.id > :after AND c.is_on IN :states ORDER BY c.id LIMIT :limit

-- name: chains_of_tag
SELECT c.*, t.next_fire_at FROM chains c JOIN flows f ON f.id = c.flow_id
LEFT JOIN triggers t ON t.org_id = c.org_id AND t.namespace = 'chains' AND t.name = f.name
WHERE c.org_id = :org_id AND c.id > :after AND c.is_on IN :states AND c.tag = :tag ORDER BY c.id LIMIT :limit

-- name: insert_chain_gate
INSERT INTO chain_gates (id, chain_id, position, env, command, description, ottime, updated_at)
VALUES (:id, :chain_id, :position, :env, :command, :description, :ottime, :updated_at)

-- name: insert_chain_step
INSERT INTO chain_steps (id, chain_id, position, env, command, step_lvl, job_desc, ottime, updated_at)
VALUES (:id, :chain_id, :position, :env, :command, :step_lvl, :job_desc, :ottime, :updated_at)

-- name: delete_chain_gates
DELETE FROM chain_gates WHERE chain_id = :chain_id

-- name: delete_chain_steps
DELETE FROM chain_steps WHERE chain_id = :chain_id

-- name: gates_of_chains
SELECT * FROM chain_gates WHERE chain_id IN :chain_ids ORDER BY chain_id, position

-- name: steps_of_chains
SELECT * FROM chain_steps WHERE chain_id IN :chain_ids ORDER BY chain_id, position

-- name: chains_of_flows
SELECT id, flow_id, job_desc, tag, subtag FROM chains WHERE flow_id IN :flow_ids

-- name: chains_of_flow_names
SELECT c.id, c.org_id, f.name, c.job_desc, c.tag, c.subtag FROM flows f JOIN chains c ON c.flow_id = f.id
WHERE f.namespace = 'chains' AND f.name IN :names

-- name: chain_run_by_id
SELECT * FROM flow_runs WHERE id = :id AND org_id = :org_id AND namespace = 'chains'

-- name: lock_chain_run
SELECT * FROM flow_runs WHERE id = :id AND org_id = :org_id AND namespace = 'chains' {lock}

-- name: runs_of_chain_run
-- Its nodes with their runs: one line each, however often a gate was probed.
SELECT n.node, r.id, r.run_at, r.wire_id, r.state, r.message, r.created_at, r.started_at, r.ended_at, r.probe_until
FROM flow_nodes n JOIN runs r ON r.id = n.run_id AND r.run_at = n.run_at WHERE n.flow_run_id = :flow_run_id

-- name: tries_of_chain_run
SELECT n.node, a.id, a.verdict FROM flow_nodes n JOIN attempts a ON a.run_id = n.run_id AND a.run_at = n.run_at
WHERE n.flow_run_id = :flow_run_id ORDER BY a.number

-- name: spans_of_flow_runs
-- When the nodes of these runs began and ended, of those that succeeded: what is usual.
SELECT n.node, r.started_at, r.ended_at FROM flow_nodes n JOIN runs r ON r.id = n.run_id AND r.run_at = n.run_at
WHERE n.flow_run_id IN :flow_run_ids AND n.outcome = 'SUCCEEDED' AND r.started_at IS NOT NULL

-- name: last_flow_run_ids_of_flow
SELECT id FROM flow_runs WHERE flow_id = :flow_id ORDER BY run_at DESC, id DESC LIMIT :limit

-- Failover: what a role that is down was given.

-- name: roles_with_work
-- Those that live flow runs were given to. Named one by one, so that no index is walked through all that has ended.
SELECT DISTINCT role FROM flow_runs
WHERE state IN ('RUNNING', 'STOPPING') AND role <> '' AND role IN ('main', 'bkp')

-- name: flow_run_ids_of_roles
SELECT id FROM flow_runs WHERE state IN ('RUNNING', 'STOPPING') AND role <> '' AND role IN :roles AND id > :after
ORDER BY id LIMIT :limit

-- name: lock_stranded_flow_runs
-- What somebody is just advancing or stopping is passed over: its turn comes again.
SELECT id, org_id, flow_id, flow_name, role FROM flow_runs WHERE id IN :ids AND state = 'RUNNING' AND role IN :roles
ORDER BY id {skip_locked}

-- name: roles_of_flows
SELECT id, roles FROM flows WHERE id IN :ids

-- name: stranded_attempts
-- What is live of these flow runs, and every attempt of a step that a worker ever took.
SELECT n.flow_run_id, a.id, a.run_id, a.state, a.node, CASE WHEN r.probe_until IS NULL THEN 1 ELSE 0 END AS is_step
FROM flow_nodes n JOIN runs r ON r.id = n.run_id AND r.run_at = n.run_at
JOIN attempts a ON a.run_id = r.id AND a.run_at = r.run_at
WHERE n.flow_run_id IN :flow_run_ids AND (a.state IN ('WAITING', 'STARTING', 'RUNNING', 'STOPPING')
  OR (r.probe_until IS NULL AND a.node IS NOT NULL)) ORDER BY a.id

-- name: lock_unclaimed_attempts
-- Without those that a worker is claiming at this moment: he may still win them.
SELECT id, fence FROM attempts WHERE id IN :ids AND state IN ('WAITING', 'STARTING') AND node IS NULL
ORDER BY id {skip_locked}

-- name: hand_over_flow_runs
UPDATE flow_runs SET role = :role, updated_at = :now WHERE id IN :ids

-- name: hand_over_attempts
UPDATE attempts SET role = :role, updated_at = :now WHERE id IN :ids AND node IS NULL

-- name: hand_over_runs
UPDATE runs SET role = :role, updated_at = :now WHERE id IN :ids
