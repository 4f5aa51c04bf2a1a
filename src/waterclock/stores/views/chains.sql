-- The tables of the scheduler that chains came from.

CREATE VIEW jobchain_table AS
SELECT
  c.id AS id,
  c.job_desc AS job_desc,
  (SELECT COUNT(*) FROM chain_steps s WHERE s.chain_id = c.id) AS total_stpes,
  {second c.updated_at} AS entry_time,
  c.timestr AS timestr,
  COALESCE(c.dep_ot, 0) AS dep_ot,
  CASE c.is_on WHEN 1 THEN 'ON' ELSE 'OFF' END AS switch,
  c.main_flag AS main_flag,
  c.bkp_flag AS BKP_flag,
  c.tag AS tag,
  c.subtag AS subtag
FROM chains c;

CREATE VIEW deptable AS
SELECT
  g.id AS id,
  g.chain_id AS jobchainid,
  g.env AS env,
  g.command AS command,
  {second g.updated_at} AS entry_time,
  g.description AS {desc},
  g.ottime AS ottime
FROM chain_gates g;

CREATE VIEW jobtable AS
SELECT
  s.id AS id,
  s.env AS env,
  s.chain_id AS job_chain_id,
  s.job_desc AS job_desc,
  s.command AS command,
  s.step_lvl AS step_lvl,
  {digits s.ottime} AS ottime,
  {second s.updated_at} AS entry_time
FROM chain_steps s;

-- Every run of a chain, not only its last. The process is the one that began last; no subquery in the select list, so
-- that somebody's ORDER BY … LIMIT is served by an index.
CREATE VIEW jobchain_lst_run AS
SELECT
  f.id AS id,
  c.id AS jobchain_id,
  {second f.created_at} AS last_run_start,
  {second f.ended_at} AS last_run_end,
  a.pid AS pid,
  CASE f.state WHEN 'COMPLETED' THEN 'Success' WHEN 'ERROR' THEN 'Failed' WHEN 'STOPPED' THEN 'KILLED'
    ELSE 'RUNNING...' END AS status,
  {second f.gates_passed_at} AS dep_pass_ts
FROM chains c
JOIN flow_runs f ON f.flow_id = c.flow_id
LEFT JOIN attempts a ON a.id = (
  SELECT x.id FROM flow_nodes n
  JOIN attempts x ON x.run_id = n.run_id AND x.run_at = n.run_at
  WHERE n.flow_run_id = f.id AND x.started_at IS NOT NULL
  ORDER BY x.started_at DESC, x.id DESC LIMIT 1);

-- One row per node that lives, but for those that only answer HTTP. The numbers count them, main before bkp, so that
-- there is a row 1 as there was before.
CREATE VIEW realtime_status AS
SELECT
  ROW_NUMBER() OVER (ORDER BY CASE n.role WHEN 'bkp' THEN 1 ELSE 0 END, n.started_at, n.id) AS id,
  n.name AS name,
  (SELECT COUNT(*) FROM attempts a
    WHERE a.state = 'STARTING' AND a.node IS NULL AND a.role IN ('', n.role)) AS timequeuesize,
  (SELECT COUNT(*) FROM attempts a
    WHERE a.host = n.host AND a.lease_until IS NOT NULL AND a.node = n.id) AS replyqueuesize,
  CASE n.debugmode WHEN 'debug' THEN 'debug' ELSE 'normal' END AS debugmode,
  {second n.heartbeat_at} AS index_last_ping_time,
  n.pid AS pid_index,
  {as_duty n.pid scheduler} AS pid_timer,
  {as_duty n.pid worker} AS pid_sqlfetcher,
  {as_duty n.pid worker} AS pid_receiver,
  {as_duty {second n.heartbeat_at} worker} AS job_last_ping_time
FROM nodes n
WHERE {lives} AND n.duties <> 'api';

CREATE VIEW schedulerMessage AS
SELECT
  m.id AS id,
  m.flow_run_id AS run_id,
  SUBSTR({joined m.subject m.body}, 1, 5000) AS msg,
  {second m.created_at} AS entry_time
FROM messages m;
