-- The tables of the Glue server behind the seeds.
-- No subqueries in the select lists: MySQL would fill a temporary table before it looks at somebody's ORDER BY … LIMIT.

CREATE VIEW api_glue_job AS
SELECT
  j.id AS job_id,
  j.owner AS username,
  j.name AS job_name,
  {last_part {script}} AS script_name,
  {script} AS script_location,
  {moment j.created_at} AS create_ts,
  {moment j.updated_at} AS update_ts,
  v.definition AS body
FROM jobs j
JOIN job_versions v ON v.job_id = j.id AND v.version = j.version
WHERE j.namespace = 'glue';

CREATE VIEW api_glue_trigger AS
SELECT
  t.id AS trigger_id,
  t.name AS name,
  {member t.definition Description} AS description,
  t.expression AS schedule,
  {flag {member t.definition StartOnCreation} IN ('true', '1')} AS start_on_create,
  t.type AS type,
  t.flow_name AS workflow_name,
  a.name AS job_name,
  t.owner AS user_name,
  t.state AS trigger_state,
  t.definition AS body
FROM triggers t
LEFT JOIN trigger_actions a ON a.trigger_id = t.id AND a.action_no = 0 AND a.target = 'job'
WHERE t.namespace = 'glue';

-- One row per attempt, as GetJobRuns lists them; a SKIPPED run has none.
CREATE VIEW api_glue_job_run AS
SELECT
  a.wire_id AS job_run_id,
  r.job_name AS job_name,
  a.state AS job_run_state,
  r.requested_by AS user_name,
  r.trigger_name AS trigger_name,
  r.trigger_id AS trigger_id,
  a.pid AS pid,
  {moment a.created_at} AS create_ts,
  {moment a.updated_at} AS update_ts
FROM attempts a
JOIN runs r ON r.id = a.run_id AND r.run_at = a.run_at
WHERE a.namespace = 'glue';
