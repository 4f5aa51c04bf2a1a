-- Quartz's tables as its JDBC store of 2.3 has them: times in epoch milliseconds, -1 for a fire that is not, 0 for no end.
-- A scheduler of Quartz is an organisation here: SCHED_NAME is its account, so that Quartz's keys stay keys. GROUP is the owner.

CREATE VIEW glue_qrtz_job_details AS
SELECT
  COALESCE(o.account, '') AS SCHED_NAME,
  j.name AS JOB_NAME,
  j.owner AS JOB_GROUP,
  {member v.definition Description} AS DESCRIPTION,
  j.kind AS JOB_CLASS_NAME,
  {flag 1 = 1} AS IS_DURABLE,
  {flag {whole {member v.spec max_concurrent}} = 1} AS IS_NONCONCURRENT,
  {flag 1 = 0} AS IS_UPDATE_DATA,
  {flag {whole {member v.spec retries}} > 0} AS REQUESTS_RECOVERY,
  {no_bytes} AS JOB_DATA
FROM jobs j
JOIN job_versions v ON v.job_id = j.id AND v.version = j.version
LEFT JOIN organisations o ON o.id = j.org_id
WHERE j.namespace = 'glue';

-- Only what is scheduled. JOB_NAME is the first action; a job that is gone leaves its name. MISFIRE_INSTR: Quartz's numbers
-- for all (ignore the misfire policy), one (fire now), skip (do nothing, or wait for the next), and 0 where none was chosen.
CREATE VIEW glue_qrtz_triggers AS
SELECT
  COALESCE(o.account, '') AS SCHED_NAME,
  t.name AS TRIGGER_NAME,
  t.owner AS TRIGGER_GROUP,
  a.name AS JOB_NAME,
  COALESCE(j.owner, t.owner) AS JOB_GROUP,
  {member t.definition Description} AS DESCRIPTION,
  COALESCE({milliseconds t.next_fire_at}, -1) AS NEXT_FIRE_TIME,
  COALESCE({milliseconds (SELECT f.fire_at FROM fires f
    WHERE f.trigger_id = t.id AND f.generation = t.generation AND f.outcome = 'FIRED'
    ORDER BY f.fire_at DESC LIMIT 1)}, -1) AS PREV_FIRE_TIME,
  5 AS PRIORITY,
  CASE WHEN t.next_fire_at IS NULL THEN 'COMPLETE' ELSE 'WAITING' END AS TRIGGER_STATE,
  CASE {inner t.schedule kind} WHEN 'cron' THEN 'CRON' WHEN 'every' THEN 'SIMPLE' WHEN 'once' THEN 'SIMPLE' ELSE 'BLOB' END
    AS TRIGGER_TYPE,
  {milliseconds COALESCE({bound t.schedule start}, t.created_at)} AS START_TIME,
  COALESCE({milliseconds {bound t.schedule end}}, 0) AS END_TIME,
  NULL AS CALENDAR_NAME,
  CASE {member t.misfire policy} WHEN 'all' THEN -1 WHEN 'one' THEN 1
    WHEN 'skip' THEN CASE {inner t.schedule kind} WHEN 'cron' THEN 2 ELSE 4 END ELSE 0 END AS MISFIRE_INSTR,
  {no_bytes} AS JOB_DATA
FROM triggers t
LEFT JOIN trigger_actions a ON a.trigger_id = t.id AND a.action_no = 0
LEFT JOIN jobs j ON j.org_id = a.org_id AND j.namespace = a.namespace AND j.name = a.name
LEFT JOIN organisations o ON o.id = t.org_id
WHERE {scheduled};

CREATE VIEW glue_qrtz_cron_triggers AS
SELECT
  COALESCE(o.account, '') AS SCHED_NAME,
  t.name AS TRIGGER_NAME,
  t.owner AS TRIGGER_GROUP,
  {inner t.schedule expression} AS CRON_EXPRESSION,
  {inner t.schedule timezone} AS TIME_ZONE_ID
FROM triggers t
LEFT JOIN organisations o ON o.id = t.org_id
WHERE {scheduled} AND {inner t.schedule kind} = 'cron';

-- rate(...) repeats for ever (-1), at(...) never (0).
CREATE VIEW glue_qrtz_simple_triggers AS
SELECT
  COALESCE(o.account, '') AS SCHED_NAME,
  t.name AS TRIGGER_NAME,
  t.owner AS TRIGGER_GROUP,
  CASE {inner t.schedule kind} WHEN 'every' THEN -1 ELSE 0 END AS REPEAT_COUNT,
  COALESCE({milliseconds {whole {inner t.schedule interval}}}, 0) AS REPEAT_INTERVAL,
  (SELECT COUNT(*) FROM fires f
    WHERE f.trigger_id = t.id AND f.generation = t.generation AND f.outcome = 'FIRED') AS TIMES_TRIGGERED
FROM triggers t
LEFT JOIN organisations o ON o.id = t.org_id
WHERE {scheduled} AND {inner t.schedule kind} IN ('every', 'once');

-- What triggers have set going and has not ended. A run that waits for an earlier action is not there yet.
CREATE VIEW glue_qrtz_fired_triggers AS
SELECT
  COALESCE(o.account, '') AS SCHED_NAME,
  a.wire_id AS ENTRY_ID,
  r.trigger_name AS TRIGGER_NAME,
  r.requested_by AS TRIGGER_GROUP,
  COALESCE(a.node, '') AS INSTANCE_NAME,
  {milliseconds a.created_at} AS FIRED_TIME,
  {milliseconds a.run_at} AS SCHED_TIME,
  5 AS PRIORITY,
  CASE a.state WHEN 'STARTING' THEN 'ACQUIRED' ELSE 'EXECUTING' END AS STATE,
  r.job_name AS JOB_NAME,
  r.owner AS JOB_GROUP,
  {flag {whole {member v.spec max_concurrent}} = 1} AS IS_NONCONCURRENT,
  {flag r.retries > 0} AS REQUESTS_RECOVERY
FROM runs r
JOIN attempts a ON a.run_id = r.id AND a.run_at = r.run_at
LEFT JOIN job_versions v ON v.job_id = r.job_id AND v.version = r.job_version
LEFT JOIN organisations o ON o.id = r.org_id
WHERE r.namespace = 'glue' AND r.trigger_id IS NOT NULL
  AND r.state IN ('WAITING', 'STARTING', 'RUNNING', 'STOPPING') AND a.state IN ('STARTING', 'RUNNING', 'STOPPING');

-- Nodes serve every organisation. One that died without a word keeps its row, and its last check-in, until it is pruned.
CREATE VIEW glue_qrtz_scheduler_state AS
SELECT
  o.account AS SCHED_NAME,
  n.id AS INSTANCE_NAME,
  {milliseconds n.heartbeat_at} AS LAST_CHECKIN_TIME,
  5000 AS CHECKIN_INTERVAL
FROM nodes n
JOIN organisations o ON 1 = 1
WHERE n.stopped_at IS NULL AND n.duties <> 'api';

-- Without a counterpart: always empty. Their columns are borrowed from others of the right type.

CREATE VIEW glue_qrtz_simprop_triggers AS
SELECT
  o.account AS SCHED_NAME,
  t.name AS TRIGGER_NAME,
  t.owner AS TRIGGER_GROUP,
  t.name AS STR_PROP_1,
  t.name AS STR_PROP_2,
  t.name AS STR_PROP_3,
  t.generation AS INT_PROP_1,
  t.generation AS INT_PROP_2,
  t.created_at AS LONG_PROP_1,
  t.created_at AS LONG_PROP_2,
  CAST(NULL AS DECIMAL(13, 4)) AS DEC_PROP_1,
  CAST(NULL AS DECIMAL(13, 4)) AS DEC_PROP_2,
  {flag 1 = 0} AS BOOL_PROP_1,
  {flag 1 = 0} AS BOOL_PROP_2
FROM triggers t
LEFT JOIN organisations o ON o.id = t.org_id
WHERE 1 = 0;

CREATE VIEW glue_qrtz_blob_triggers AS
SELECT o.account AS SCHED_NAME, t.name AS TRIGGER_NAME, t.owner AS TRIGGER_GROUP, {no_bytes} AS BLOB_DATA
FROM triggers t
LEFT JOIN organisations o ON o.id = t.org_id
WHERE 1 = 0;

CREATE VIEW glue_qrtz_calendars AS
SELECT o.account AS SCHED_NAME, t.name AS CALENDAR_NAME, {no_bytes} AS CALENDAR
FROM triggers t
LEFT JOIN organisations o ON o.id = t.org_id
WHERE 1 = 0;

CREATE VIEW glue_qrtz_paused_trigger_grps AS
SELECT o.account AS SCHED_NAME, t.owner AS TRIGGER_GROUP
FROM triggers t
LEFT JOIN organisations o ON o.id = t.org_id
WHERE 1 = 0;

CREATE VIEW glue_qrtz_locks AS
SELECT o.account AS SCHED_NAME, t.name AS LOCK_NAME
FROM triggers t
LEFT JOIN organisations o ON o.id = t.org_id
WHERE 1 = 0;
