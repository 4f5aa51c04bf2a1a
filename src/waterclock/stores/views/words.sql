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
