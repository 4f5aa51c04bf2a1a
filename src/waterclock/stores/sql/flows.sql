-- name: insert_flow
INSERT INTO flows (id, org_id, namespace, name, owner, max_concurrent, properties, definition, tags, version,
  graph, roles, created_at, updated_at)
VALUES (:id, :org_id, :namespace, :name, :owner, :max_concurrent, :properties, :definition, :tags, :version,
  :graph, :roles, :created_at, :updated_at)

-- name: flow_by_name
SELECT * FROM flows WHERE org_id = :org_id AND namespace = :namespace AND name = :name

-- name: flows_by_names
SELECT * FROM flows WHERE org_id = :org_id AND namespace = :namespace AND name IN :names

-- name: lock_flow
SELECT * FROM flows WHERE org_id = :org_id AND namespace = :namespace AND name = :name {lock}

-- name: lock_flows
-- Whoever starts a run of a flow with a cap must see all its live runs.
SELECT * FROM flows WHERE org_id = :org_id AND namespace = :namespace AND name IN :names ORDER BY id {lock}

-- name: flows_of_org
SELECT * FROM flows WHERE org_id = :org_id AND namespace IN :namespaces AND name >= :after
  AND (name > :after OR id > :after_id)
ORDER BY name, id LIMIT :limit

-- name: update_flow
UPDATE flows SET max_concurrent = :max_concurrent, properties = :properties, definition = :definition,
  graph = :graph, roles = :roles, version = version + 1, updated_at = :updated_at
WHERE id = :id AND version = :was

-- name: delete_flow
DELETE FROM flows WHERE id = :id

-- name: triggers_of_flow
SELECT * FROM triggers WHERE org_id = :org_id AND namespace = :namespace AND flow_name = :flow_name
  AND flow_name IS NOT NULL ORDER BY name

-- name: triggers_of_flows
SELECT * FROM triggers WHERE org_id = :org_id AND namespace = :namespace AND flow_name IN :flow_names
  AND flow_name IS NOT NULL
ORDER BY flow_name, name

-- name: count_live_flow_runs
SELECT flow_id, COUNT(*) AS live FROM flow_runs WHERE flow_id IN :flow_ids AND state IN ('RUNNING', 'STOPPING')
GROUP BY flow_id

-- name: insert_flow_run
INSERT INTO flow_runs (id, run_at, org_id, namespace, wire_id, flow_id, flow_name, owner, requested_by, fire_id,
  trigger_id, trigger_name, previous_wire_id, state, message, graph, fired, properties, role, gates_passed_at,
  created_at, ended_at, updated_at)
VALUES (:id, :run_at, :org_id, :namespace, :wire_id, :flow_id, :flow_name, :owner, :requested_by, :fire_id,
  :trigger_id, :trigger_name, :previous_wire_id, :state, :message, :graph, :fired, :properties, :role,
  :gates_passed_at, :created_at, :ended_at, :updated_at)

-- name: flow_run_by_wire_id
SELECT * FROM flow_runs WHERE wire_id = :wire_id AND org_id = :org_id

-- name: lock_flow_run_by_wire_id
SELECT * FROM flow_runs WHERE wire_id = :wire_id AND org_id = :org_id {lock}

-- name: lock_flow_runs
-- Two nodes of one run may end at once: each must see the other's end to know what fires.
SELECT * FROM flow_runs WHERE id IN :ids ORDER BY id {lock}

-- name: flow_runs_of_flow
SELECT * FROM flow_runs WHERE flow_id = :flow_id AND run_at <= :before_at AND (run_at < :before_at OR id < :before_id)
ORDER BY run_at DESC, id DESC LIMIT :limit

-- name: last_flow_run_ids
-- One look into the index for each flow, however many runs it has had.
SELECT f.id AS flow_id, (SELECT r.id FROM flow_runs r WHERE r.flow_id = f.id ORDER BY r.run_at DESC, r.id DESC LIMIT 1)
  AS id FROM flows f WHERE f.id IN :flow_ids

-- name: flow_runs_by_ids
SELECT * FROM flow_runs WHERE id IN :ids

-- name: move_flow_run
UPDATE flow_runs SET state = :state, fired = :fired, message = :message, gates_passed_at = :gates_passed_at,
  ended_at = :ended_at, updated_at = :updated_at WHERE id = :id AND state = :was

-- name: set_flow_run_properties
UPDATE flow_runs SET properties = :properties, updated_at = :updated_at WHERE id = :id

-- name: insert_flow_node
INSERT INTO flow_nodes (flow_run_id, node, run_id, run_at, outcome)
VALUES (:flow_run_id, :node, :run_id, :run_at, :outcome)

-- name: end_flow_node
UPDATE flow_nodes SET outcome = :outcome WHERE flow_run_id = :flow_run_id AND node = :node

-- name: nodes_of_flow_runs
SELECT flow_run_id, node, run_id, run_at, outcome FROM flow_nodes WHERE flow_run_id IN :flow_run_ids

-- name: node_states_of_flow_runs
-- As they are now: a node that has not ended is as its run is.
SELECT n.flow_run_id, n.node, COALESCE(n.outcome, r.state) AS state FROM flow_nodes n
LEFT JOIN runs r ON r.id = n.run_id AND r.run_at = n.run_at WHERE n.flow_run_id IN :flow_run_ids

-- name: live_attempt_ids_of_flow_run
SELECT a.id AS id FROM flow_nodes n JOIN attempts a ON a.run_id = n.run_id AND a.run_at = n.run_at
WHERE n.flow_run_id = :flow_run_id AND n.outcome IS NULL
  AND a.state IN ('WAITING', 'STARTING', 'RUNNING', 'STOPPING')

-- name: failing_flow_runs
-- Those of them one of whose nodes has ended otherwise than well.
SELECT DISTINCT flow_run_id FROM flow_nodes WHERE flow_run_id IN :flow_run_ids AND outcome IS NOT NULL
  AND outcome <> 'SUCCEEDED'

-- name: unclaimed_attempts_of_flow_runs
-- What no worker has taken yet.
SELECT n.flow_run_id, a.id AS id FROM flow_nodes n JOIN attempts a ON a.run_id = n.run_id AND a.run_at = n.run_at
WHERE n.flow_run_id IN :flow_run_ids AND n.outcome IS NULL AND a.state = 'STARTING' AND a.node IS NULL
ORDER BY a.id

-- name: attempt_ids_of_flow_runs
SELECT n.flow_run_id, n.node, a.id AS id FROM flow_nodes n
JOIN attempts a ON a.run_id = n.run_id AND a.run_at = n.run_at WHERE n.flow_run_id IN :flow_run_ids ORDER BY a.run_at, a.id

-- name: insert_trigger_condition
INSERT INTO trigger_conditions (trigger_id, condition_no, org_id, namespace, target, name, state)
VALUES (:trigger_id, :condition_no, :org_id, :namespace, :target, :name, :state)

-- name: delete_trigger_conditions
DELETE FROM trigger_conditions WHERE trigger_id = :id

-- name: conditions_of_triggers
SELECT * FROM trigger_conditions WHERE trigger_id IN :trigger_ids ORDER BY trigger_id, condition_no

-- name: mark_condition
UPDATE trigger_conditions SET met_at = :met_at, met_by = :met_by
WHERE trigger_id = :trigger_id AND condition_no = :condition_no

-- name: forget_conditions
-- It begins to watch anew.
UPDATE trigger_conditions SET met_at = NULL, met_by = NULL WHERE trigger_id = :id AND met_at IS NOT NULL

-- name: watching_trigger_ids
-- Conditional triggers outside flows that wait for runs of jobs with these names.
SELECT DISTINCT t.id AS id FROM trigger_conditions c JOIN triggers t ON t.id = c.trigger_id
WHERE c.org_id IN :org_ids AND c.namespace IN :namespaces AND c.name IN :names AND c.target = 'job'
  AND t.state = 'RUNNING' AND t.flow_name IS NULL

-- name: lock_triggers_by_ids
SELECT * FROM triggers WHERE id IN :ids ORDER BY id {lock}

-- name: last_fires_of_triggers
SELECT f.trigger_id, MAX(f.fire_at) AS fire_at FROM fires f JOIN triggers t ON t.id = f.trigger_id
  AND t.generation = f.generation WHERE f.trigger_id IN :trigger_ids GROUP BY f.trigger_id
