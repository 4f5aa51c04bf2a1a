-- The four tables of the job scheduler behind the lake face. Times are epoch milliseconds, as that face has them.
-- No subqueries in the select lists, as in the tables of Glue.

CREATE VIEW JobInfo AS
SELECT
  l.source_id AS datasource_id,
  l.id AS job_id,
  v.definition AS job_data
FROM lake_jobs l
JOIN jobs j ON j.id = l.id
JOIN job_versions v ON v.job_id = j.id AND v.version = j.version
WHERE l.deleted_at IS NULL;

-- Of the last run that has ended; sync_internal is in minutes, where there is such a distance. The watermark of a sync is
-- its bookmark, which is JSON; other programs may leave whatever they like.
CREATE VIEW JobScheduler AS
SELECT
  l.id AS job_id,
  {milliseconds COALESCE(r.started_at, r.ended_at)} AS last_time_sync,
  l.every_minutes AS sync_internal,
  {object 'schedule', {nested l.schedule}, 'watermark', {nested CASE WHEN {is_sync} THEN b.content END}} AS sync_data,
  {lake_status a r} AS last_sync_status
FROM lake_jobs l
LEFT JOIN bookmarks b ON b.job_id = l.id
LEFT JOIN runs r ON r.id = {last_ended l.id}
LEFT JOIN attempts a ON {newest_of_run}
WHERE l.deleted_at IS NULL;

-- One row per run, also of jobs that are gone; a run that has not begun stands at the moment that it was asked for.
CREATE VIEW JobHistory AS
SELECT
  l.id AS job_id,
  {milliseconds COALESCE(r.started_at, r.run_at)} AS sync_time,
  {object 'run_id', r.id, 'state', {lake_status a r}, 'message', a.message, 'progress', {nested r.progress},
    'start', {milliseconds r.started_at}, 'end', {milliseconds r.ended_at}} AS stats_data
FROM lake_jobs l
JOIN attempts f ON f.job_id = l.id AND f.number = 0
JOIN runs r ON r.id = f.run_id AND r.run_at = f.run_at
JOIN attempts a ON {newest_of_run};

CREATE VIEW JobStatus AS
SELECT
  l.id AS job_id,
  {lake_status a r} AS current_status
FROM lake_jobs l
LEFT JOIN runs r ON r.id = {last_run l.id}
LEFT JOIN attempts a ON {newest_of_run}
WHERE l.deleted_at IS NULL;
