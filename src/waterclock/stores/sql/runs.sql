-- name: insert_run
INSERT INTO runs (id, run_at, org_id, namespace, wire_id, job_id, job_name, job_version, kind, owner, requested_by,
  fire_id, action_no, has_next, trigger_id, trigger_name, flow_run_id, flow_node, previous_wire_id, state, wait_reason,
  message, queue, labels, role, arguments, settings, attempts, retries, retry_delay_us, retry_doubles,
  timeout_seconds, notify_after_seconds, probe_until, created_at, ended_at, updated_at)
VALUES (:id, :run_at, :org_id, :namespace, :wire_id, :job_id, :job_name, :job_version, :kind, :owner, :requested_by,
  :fire_id, :action_no, :has_next, :trigger_id, :trigger_name, :flow_run_id, :flow_node, :previous_wire_id, :state,
  :wait_reason, :message, :queue, :labels, :role, :arguments, :settings, :attempts, :retries, :retry_delay_us,
  :retry_doubles, :timeout_seconds, :notify_after_seconds, :probe_until, :created_at, :ended_at, :updated_at)

-- name: insert_attempt
INSERT INTO attempts (id, run_at, run_id, org_id, namespace, job_id, number, wire_id, state, fence, node, host,
  lease_until, due_at, queue, labels, role, memory_mb, message, created_at, ended_at, updated_at)
VALUES (:id, :run_at, :run_id, :org_id, :namespace, :job_id, :number, :wire_id, :state, :fence, :node, :host,
  :lease_until, :due_at, :queue, :labels, :role, :memory_mb, :message, :created_at, :ended_at, :updated_at)

-- name: attempts_to_claim
-- Up to :limit attempts for one node; rows that another node is claiming are passed over. :org_id 0: of all.
SELECT id, run_at FROM attempts
WHERE state = 'STARTING' AND node IS NULL AND queue IN :queues AND labels IN :labels AND role IN :roles
  AND (org_id = :org_id OR :org_id = 0) AND due_at <= :now
ORDER BY due_at, id LIMIT :limit {skip_locked}

-- name: fitting_attempts_to_claim
-- The same for a node that counts its memory. Where one that would fit if nothing else ran there has waited since before
-- :aged, what came later and asks for memory is left alone: else small ones would take whatever becomes free, for ever.
SELECT id, run_at, due_at, memory_mb FROM attempts
WHERE state = 'STARTING' AND node IS NULL AND queue IN :queues AND labels IN :labels AND role IN :roles
  AND (org_id = :org_id OR :org_id = 0) AND due_at <= :now AND memory_mb <= :free_mb
  AND (memory_mb = 0 OR due_at <= COALESCE((SELECT MIN(big.due_at) FROM attempts big
    WHERE big.state = 'STARTING' AND big.node IS NULL AND big.queue IN :queues AND big.labels IN :labels
      AND big.role IN :roles AND (big.org_id = :org_id OR :org_id = 0) AND big.due_at <= :aged
      AND big.memory_mb > :free_mb AND big.memory_mb <= :memory_mb), :now))
ORDER BY due_at, id LIMIT :limit {skip_locked}

-- name: count_to_claim
-- How many wait, up to :most: a node that is not alone takes its share of them.
SELECT COUNT(*) AS count FROM (SELECT id FROM attempts
  WHERE state = 'STARTING' AND node IS NULL AND queue IN :queues AND labels IN :labels AND role IN :roles
    AND (org_id = :org_id OR :org_id = 0) AND due_at <= :now LIMIT :most) waiting

-- name: claim_attempts
UPDATE attempts SET node = :node, host = :host, fence = fence + 1, lease_until = :lease_until, updated_at = :now
WHERE id IN :ids AND run_at BETWEEN :first_at AND :last_at AND state = 'STARTING' AND node IS NULL

-- name: next_claim
-- When the next delayed attempt (a retry) becomes due. What is due and was left for want of memory is no reason to come
-- back at once: such a node asks for what becomes due :after now.
SELECT MIN(due_at) AS due_at FROM attempts
WHERE state = 'STARTING' AND node IS NULL AND queue IN :queues AND labels IN :labels AND role IN :roles
  AND (org_id = :org_id OR :org_id = 0) AND due_at > :after

-- name: release_attempts
-- Claimed, never handed to a runner: somebody else may have them. The fence has moved on.
UPDATE attempts SET node = NULL, host = NULL, lease_until = NULL, updated_at = :now
WHERE id IN :ids AND node = :node AND state = 'STARTING'

-- name: unstarted_of_node
-- What a node has claimed from these queues and not begun.
SELECT id FROM attempts WHERE host = :host AND lease_until IS NOT NULL AND node = :node AND state = 'STARTING'
  AND queue IN :queues ORDER BY id {lock}

-- name: whole_attempts
-- Attempts with what belongs to their runs. First the attempts, then their runs: without statistics a planner may
-- begin with all runs, and look through the whole list for each.
WITH a AS {materialized} (SELECT * FROM attempts WHERE id IN :ids AND run_at BETWEEN :first_at AND :last_at)
SELECT a.*, r.job_name, r.job_version, r.kind, r.owner, r.requested_by, r.trigger_id, r.trigger_name,
  r.previous_wire_id, r.wait_reason, r.phase, r.attempts, r.timeout_seconds, r.arguments, r.settings,
  r.probe_until
FROM a JOIN runs r ON r.id = a.run_id AND r.run_at = a.run_at

-- name: whole_attempts_by_wire_ids
-- Of any organisation: whoever asks takes what is his. Ids begin with the time.
SELECT a.*, r.job_name, r.job_version, r.kind, r.owner, r.requested_by, r.trigger_id, r.trigger_name,
  r.previous_wire_id, r.wait_reason, r.phase, r.attempts, r.timeout_seconds, r.arguments, r.settings,
  r.probe_until
FROM attempts a JOIN runs r ON r.id = a.run_id AND r.run_at = a.run_at
WHERE a.wire_id IN :wire_ids AND a.run_at BETWEEN :first_at AND :last_at AND r.run_at BETWEEN :first_at AND :last_at

-- name: whole_attempts_of_job
-- Newest first; the page goes on below (before_at, before_id). The page is cut before anything is joined to it.
WITH a AS {materialized} (SELECT * FROM attempts
  WHERE job_id = :job_id AND run_at <= :before_at AND (run_at < :before_at OR id < :before_id)
  ORDER BY run_at DESC, id DESC LIMIT :limit)
SELECT a.*, r.job_name, r.job_version, r.kind, r.owner, r.requested_by, r.trigger_id, r.trigger_name,
  r.previous_wire_id, r.wait_reason, r.phase, r.attempts, r.timeout_seconds, r.arguments, r.settings,
  r.probe_until
FROM a JOIN runs r ON r.id = a.run_id AND r.run_at = a.run_at ORDER BY a.run_at DESC, a.id DESC

-- name: whole_attempts_of_org
WITH a AS {materialized} (SELECT * FROM attempts
  WHERE org_id = :org_id AND namespace IN :namespaces AND state IN :states
    AND run_at <= :before_at AND (run_at < :before_at OR id < :before_id)
  ORDER BY run_at DESC, id DESC LIMIT :limit)
SELECT a.*, r.job_name, r.job_version, r.kind, r.owner, r.requested_by, r.trigger_id, r.trigger_name,
  r.previous_wire_id, r.wait_reason, r.phase, r.attempts, r.timeout_seconds, r.arguments, r.settings,
  r.probe_until
FROM a JOIN runs r ON r.id = a.run_id AND r.run_at = a.run_at ORDER BY a.run_at DESC, a.id DESC

-- name: lock_attempts
SELECT a.id, a.run_id, a.run_at, a.org_id, a.namespace, a.job_id, a.number, a.wire_id, a.state, a.fence, a.node,
  a.queue, a.labels, a.role, a.memory_mb
FROM attempts a WHERE a.id IN :ids AND a.run_at BETWEEN :first_at AND :last_at ORDER BY a.id {lock}

-- name: lock_runs
SELECT id, run_at, org_id, namespace, wire_id, state, job_id, job_name, fire_id, has_next, trigger_id, flow_run_id,
  flow_node, attempts, retries, retry_delay_us, retry_doubles, probe_until FROM runs
WHERE id IN :ids AND run_at BETWEEN :first_at AND :last_at ORDER BY id {lock}

-- name: reach_of_attempts
-- What an end of these attempts may touch: their jobs, the fires that have later actions, their flow runs, and (where
-- a trigger started them) the conditional triggers that watch their jobs.
WITH a AS {materialized} (SELECT run_id, run_at FROM attempts
  WHERE id IN :ids AND run_at BETWEEN :first_at AND :last_at)
SELECT DISTINCT r.job_id AS job_id, CASE WHEN r.has_next = 1 THEN r.fire_id END AS fire_id, r.flow_run_id,
  r.org_id, r.namespace, CASE WHEN r.trigger_id IS NOT NULL AND r.flow_run_id IS NULL THEN r.job_name END AS watched
FROM a JOIN runs r ON r.id = a.run_id AND r.run_at = a.run_at AND r.run_at BETWEEN :first_at AND :last_at

-- name: job_ids_of_attempts
SELECT DISTINCT job_id FROM attempts
WHERE id IN :ids AND run_at BETWEEN :first_at AND :last_at AND job_id IS NOT NULL

-- name: lock_fires
-- Two actions of one fire may end at once: each must see the other's end to know which one is next.
SELECT id FROM fires WHERE id IN :ids ORDER BY id {lock}

-- name: job_ids_of_fires
SELECT DISTINCT job_id FROM runs WHERE fire_id IN :fire_ids AND job_id IS NOT NULL

-- name: begin_attempt
UPDATE attempts SET state = :state, pid = :pid, pid_started_at = :pid_started_at, log_path = :log_path,
  started_at = :now, updated_at = :now WHERE id = :id AND run_at = :run_at AND fence = :fence AND state = :was

-- name: begin_run
-- What has to be fetched and built first says itself when it executes.
UPDATE runs SET state = :state, started_at = COALESCE(started_at, :now), updated_at = :now,
  phase = CASE WHEN kind IN ('java_job', 'python_job') THEN 'building' ELSE 'executing' END
WHERE id = :id AND run_at = :run_at AND state = :was

-- name: end_attempt
UPDATE attempts SET state = :state, lease_until = NULL, exit_code = :exit_code, exit_signal = :exit_signal,
  cpu_us = :cpu_us, peak_rss_bytes = :peak_rss_bytes, message = :message, verdict = :verdict, output = :output,
  pid = COALESCE(pid, :pid),
  pid_started_at = COALESCE(pid_started_at, :pid_started_at), log_path = COALESCE(log_path, :log_path),
  started_at = COALESCE(started_at, :started_at), ended_at = :now, updated_at = :now
WHERE id = :id AND run_at = :run_at AND fence = :fence AND state = :was

-- name: end_run
UPDATE runs SET state = :state, message = :message, wait_reason = NULL, phase = NULL,
  started_at = COALESCE(started_at, :started_at), ended_at = :now, updated_at = :now
WHERE id = :id AND run_at = :run_at AND state = :was

-- name: probe_errors
-- How many probes of these gates have ended in an error so far.
SELECT run_id, COUNT(*) AS errors FROM attempts WHERE run_id IN :run_ids AND verdict = 'error' GROUP BY run_id

-- name: report_run
-- A report is whole: what an earlier one said and this one does not is gone.
UPDATE runs SET phase = COALESCE(:phase, phase), progress = :progress, updated_at = :now
WHERE id = :id AND run_at = :run_at AND state IN ('RUNNING', 'STOPPING')

-- name: end_report
UPDATE runs SET progress = :progress WHERE id = :id AND run_at = :run_at

-- name: retry_run
UPDATE runs SET state = 'STARTING', phase = NULL, progress = NULL, attempts = attempts + 1, updated_at = :now
WHERE id = :id AND run_at = :run_at

-- name: stop_attempt
UPDATE attempts SET state = 'STOPPING', updated_at = :now WHERE id = :id AND run_at = :run_at AND state = :was

-- name: stop_run
UPDATE runs SET state = 'STOPPING', wait_reason = NULL, updated_at = :now WHERE id = :id AND run_at = :run_at AND state = :was

-- name: waiting_attempts
SELECT id, org_id FROM attempts WHERE run_id IN :run_ids AND state = 'WAITING'

-- name: start_waiting_runs
UPDATE runs SET state = 'STARTING', wait_reason = NULL, updated_at = :now WHERE id IN :ids AND state = 'WAITING'

-- name: start_waiting_attempts
UPDATE attempts SET state = 'STARTING', due_at = :now, updated_at = :now WHERE run_id IN :run_ids AND state = 'WAITING'

-- name: hold_waiting_runs
-- Their turn has come but their job has no free slot.
UPDATE runs SET wait_reason = :wait_reason, updated_at = :now WHERE id IN :ids AND state = 'WAITING'

-- name: live_runs_of_fires
SELECT id, fire_id, action_no, state, wait_reason, job_id, run_at FROM runs
WHERE fire_id IN :fire_ids AND state IN ('WAITING', 'STARTING', 'RUNNING', 'STOPPING') ORDER BY fire_id, action_no

-- name: runs_waiting_for_slot
SELECT id FROM runs WHERE job_id = :job_id AND state = 'WAITING' AND wait_reason = :wait_reason
ORDER BY run_at, id LIMIT :limit

-- name: runs_waiting_for_slots
-- The first :most of each job.
SELECT id, job_id, place FROM (SELECT id, job_id, ROW_NUMBER() OVER (PARTITION BY job_id ORDER BY run_at, id) AS place
  FROM runs WHERE job_id IN :job_ids AND state = 'WAITING' AND wait_reason = :wait_reason) AS waiting
WHERE place <= :most ORDER BY job_id, place

-- name: live_attempt_ids_of_trigger
SELECT a.id AS id FROM runs r JOIN attempts a ON a.run_id = r.id AND a.run_at = r.run_at
WHERE r.trigger_id = :trigger_id AND r.state IN ('WAITING', 'STARTING', 'RUNNING', 'STOPPING')
  AND a.state IN ('WAITING', 'STARTING', 'RUNNING', 'STOPPING')

-- name: attempts_by_wire_ids
SELECT a.id, a.wire_id, a.state, a.namespace, r.job_name FROM attempts a
JOIN runs r ON r.id = a.run_id AND r.run_at = a.run_at
WHERE a.wire_id IN :wire_ids AND a.org_id = :org_id

-- name: held_leases
SELECT id, fence FROM attempts WHERE id IN :ids AND lease_until IS NOT NULL ORDER BY id {lock}

-- name: renew_leases
UPDATE attempts SET lease_until = :lease_until WHERE id IN :ids AND lease_until IS NOT NULL

-- name: lost_attempts
-- Whose lease ran out before :horizon: their processes are dead by now, whoever held them has seen to that.
SELECT id FROM attempts WHERE lease_until < :horizon ORDER BY lease_until LIMIT :limit

-- name: lost_attempts_of_namespace
SELECT id FROM attempts WHERE lease_until < :horizon AND namespace = :namespace ORDER BY lease_until LIMIT :limit

-- name: still_lost
-- The horizon again, now under the lock: a renewal may have come in between.
SELECT id, fence, state FROM attempts WHERE id IN :ids AND lease_until < :horizon ORDER BY id {skip_locked}

-- name: attempts_of_host
SELECT id, run_at, fence, node, state, pid, pid_started_at FROM attempts
WHERE host = :host AND lease_until IS NOT NULL ORDER BY id {lock}

-- name: adopt_attempts
UPDATE attempts SET node = :node, lease_until = :lease_until, updated_at = :now
WHERE id IN :ids AND lease_until IS NOT NULL

-- name: stopping_of_node
SELECT id FROM attempts WHERE state = 'STOPPING' AND node = :node

-- name: insert_transitions
INSERT INTO transitions (org_id, at, moves) VALUES (:org_id, :at, :moves)

-- name: transitions_after
SELECT seq, at, moves FROM transitions WHERE org_id = :org_id AND seq > :seq ORDER BY seq LIMIT :limit

-- name: count_begun
-- For the benchmarks: how many attempts have ever begun.
SELECT COUNT(*) AS count FROM attempts WHERE started_at IS NOT NULL
