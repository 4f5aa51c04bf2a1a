-- name: insert_trigger
INSERT INTO triggers (id, org_id, namespace, name, owner, type, state, expression, schedule, misfire, logical,
  flow_name, next_fire_at, version, generation, definition, tags, ticker, created_at, updated_at)
VALUES (:id, :org_id, :namespace, :name, :owner, :type, :state, :expression, :schedule, :misfire, :logical,
  :flow_name, :next_fire_at, :version, :generation, :definition, :tags, :ticker, :created_at, :updated_at)

-- name: insert_trigger_action
INSERT INTO trigger_actions (trigger_id, action_no, org_id, namespace, target, name, arguments, timeout_seconds,
  notify_after_seconds)
VALUES (:trigger_id, :action_no, :org_id, :namespace, :target, :name, :arguments, :timeout_seconds,
  :notify_after_seconds)

-- name: delete_trigger_actions
DELETE FROM trigger_actions WHERE trigger_id = :id

-- name: trigger_by_name
SELECT * FROM triggers WHERE org_id = :org_id AND namespace = :namespace AND name = :name

-- name: lock_trigger
SELECT * FROM triggers WHERE org_id = :org_id AND namespace = :namespace AND name = :name {lock}

-- name: triggers_by_names
SELECT * FROM triggers WHERE org_id = :org_id AND namespace = :namespace AND name IN :names

-- name: triggers_of_org
SELECT * FROM triggers WHERE org_id = :org_id AND namespace IN :namespaces AND name >= :after
  AND (name > :after OR id > :after_id)
ORDER BY name, id LIMIT :limit

-- name: triggers_of_job
SELECT * FROM triggers t WHERE t.org_id = :org_id AND t.namespace IN :namespaces AND t.name >= :after
  AND (t.name > :after OR t.id > :after_id)
AND EXISTS (SELECT 1 FROM trigger_actions a WHERE a.trigger_id = t.id AND a.target = 'job' AND a.name = :job_name)
ORDER BY t.name, t.id LIMIT :limit

-- name: actions_of_triggers
SELECT * FROM trigger_actions WHERE trigger_id IN :trigger_ids ORDER BY trigger_id, action_no

-- name: redefine_trigger
-- A new generation: what it fires from now on is not what it fired before.
UPDATE triggers SET type = :type, expression = :expression, schedule = :schedule, misfire = :misfire,
  logical = :logical, flow_name = :flow_name, next_fire_at = :next_fire_at, definition = :definition, updated_at = :updated_at,
  version = version + 1, generation = generation + 1
WHERE id = :id AND version = :was

-- name: move_trigger
UPDATE triggers SET state = :state, next_fire_at = :next_fire_at, updated_at = :updated_at, version = version + 1
WHERE id = :id AND version = :was

-- name: delete_trigger
DELETE FROM triggers WHERE id = :id AND version = :was

-- name: delete_triggers
DELETE FROM triggers WHERE id IN :ids

-- name: lock_due_triggers
-- Up to :limit due triggers for one scheduler of its kind; those that another one is firing are passed over.
SELECT id, org_id, namespace, name, owner, schedule, misfire, flow_name, next_fire_at, version, generation, job_id
FROM triggers
WHERE ticker = :ticker AND state = 'RUNNING' AND next_fire_at <= :now
ORDER BY next_fire_at LIMIT :limit {skip_locked}

-- name: triggers_due_at
-- Of one instant, to look at: whoever makes their fires ready holds none of them before their time. In no order: there may
-- be a million of them, and only as many are read as are asked for.
SELECT id, org_id, namespace, name, owner, schedule, misfire, version, generation, job_id FROM triggers
WHERE ticker = :ticker AND state = 'RUNNING' AND next_fire_at = :due_at AND flow_name IS NULL LIMIT :limit

-- name: hold_due_triggers
-- Those that are still to fire at that instant, and that nobody else holds.
SELECT id, version FROM triggers WHERE id IN :ids AND state = 'RUNNING' AND next_fire_at = :due_at
ORDER BY id {skip_locked}

-- name: advance_trigger
-- With the number of its job, as whoever fires it knows it: the version that made it may not have written it down.
UPDATE triggers SET next_fire_at = :next_fire_at, job_id = :job_id, version = version + 1
WHERE id = :id AND version = :was

-- name: next_due
SELECT MIN(next_fire_at) AS due_at FROM triggers
WHERE ticker = :ticker AND state = 'RUNNING' AND next_fire_at IS NOT NULL

-- name: insert_fire
INSERT INTO fires (id, org_id, trigger_id, trigger_name, generation, fire_at, outcome, reason, first_at, last_at,
  instants, created_at)
VALUES (:id, :org_id, :trigger_id, :trigger_name, :generation, :fire_at, :outcome, :reason, :first_at, :last_at,
  :instants, :created_at)

-- name: fires_of_trigger
SELECT * FROM fires WHERE org_id = :org_id AND trigger_id = :trigger_id AND fire_at <= :before
  AND (fire_at < :before OR id < :before_id)
ORDER BY fire_at DESC, id DESC LIMIT :limit
