-- A fire of a program's job need not look for it by its name: those of a million jobs are more than a database's memory
-- holds, and nothing else of a fire is spread over all that is stored (decision 0013). Marks as in 0001.

-- Of a library's trigger: the number of the job of its name. NULL: a trigger of the version before that has not fired
-- since, or one of the cluster's, which names its jobs in its actions.
ALTER TABLE triggers ADD COLUMN job_id BIGINT;
