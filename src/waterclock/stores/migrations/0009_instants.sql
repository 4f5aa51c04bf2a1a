-- A fire touches neither index of names: a million names are more than a database's memory holds, and nothing else of a
-- fire is spread over all that is stored (decision 0019). Marks as in 0001. PostgreSQL's other part is
-- stores/postgres/instants.sql; the others write to an index only what has changed of it, anyway.

-- Of a library's trigger: the number of the job of its name. NULL: a trigger of the version before that has not fired
-- since, or one of the cluster's, which names its jobs in its actions.
ALTER TABLE triggers ADD COLUMN job_id BIGINT;
