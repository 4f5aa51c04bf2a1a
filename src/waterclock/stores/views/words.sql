-- Words that mean the same in every database, made of the others.

-- name: scheduled
-- A SCHEDULED trigger that is RUNNING: what Quartz would know of. The others are in api_glue_trigger alone.
t.namespace = 'glue' AND t.type = 'SCHEDULED' AND t.state = 'RUNNING'

-- name: inner
-- A member of the schedule itself, below what it may be wrapped in: bounds, holidays, jitter.
COALESCE({member $1 schedule.schedule.schedule.$2}, {member $1 schedule.schedule.$2}, {member $1 schedule.$2}, {member $1 $2})

-- name: bound
-- `start` or `end` of the schedule in microseconds: bounds are outermost, or just inside the jitter.
{whole COALESCE({member $1 $2}, {member $1 schedule.$2})}

-- name: script
COALESCE({member v.definition Command.ScriptLocation}, {member v.spec script})

-- name: lives
-- A node that has not signed off, and whose last heartbeat is not older than the failover time is by default.
n.stopped_at IS NULL AND n.heartbeat_at > {now} - 30000000

-- name: as_duty
-- Only of a node that has this duty.
CASE WHEN REPLACE(n.duties, '$2', '') <> n.duties THEN $1 END

-- name: newest_of_run
-- The attempt a by which the run r is shown.
a.run_id = r.id AND a.run_at = r.run_at AND a.number = r.attempts - 1

-- name: last_run
-- Of a lake job, as the statement last_runs_of_lake_jobs finds it.
COALESCE((SELECT x.id FROM runs x WHERE x.job_id = $1 AND x.state IN ('WAITING', 'STARTING', 'RUNNING', 'STOPPING')
    ORDER BY x.run_at DESC, x.id DESC LIMIT 1),
  (SELECT y.run_id FROM attempts y WHERE y.job_id = $1 AND y.number = 0 ORDER BY y.run_at DESC, y.id DESC LIMIT 1))

-- name: last_ended
(SELECT y.run_id FROM attempts y JOIN runs x ON x.id = y.run_id AND x.run_at = y.run_at
  WHERE y.job_id = $1 AND y.number = 0 AND x.ended_at IS NOT NULL ORDER BY y.run_at DESC, y.id DESC LIMIT 1)

-- name: is_sync
l.class_name IN ('sync_db_job', 'sync_service_job', 'sync_file_job')

-- name: told
-- $1 of all other lake jobs, $2 of a sync.
CASE WHEN {is_sync} THEN '$2' ELSE '$1' END

-- name: lake_status
-- What status_of in domain/lake.py says of the attempt $1 of the run $2, in the words of the kind of the job l.
CASE WHEN $1.id IS NULL THEN {told Initialized Init}
  WHEN $1.ended_at IS NULL AND $1.lease_until < {now} THEN 'Unknown'
  WHEN $1.state = 'RUNNING' AND $2.phase = 'building' THEN {told Compiling Syncing}
  WHEN $1.state IN ('WAITING', 'STARTING') THEN 'Queued'
  WHEN $1.state IN ('RUNNING', 'STOPPING') THEN {told Running Syncing}
  WHEN $1.state = 'SUCCEEDED' THEN {told Finished Synced}
  WHEN $1.state = 'STOPPED' THEN {told Killed Terminated} ELSE 'Error' END
