-- Jobs of the library: callables that a program schedules for itself, in a store that it may share with a server. Marks
-- as in 0001.

-- Who fires it: empty for the cluster's schedulers; else only the library schedulers of that namespace, so that no
-- server fires what a program that is down would have to run, and no program fires what is a server's.
ALTER TABLE triggers ADD COLUMN ticker VARCHAR(16) DEFAULT '' NOT NULL;
@partial DROP INDEX triggers_due;
@partial CREATE INDEX triggers_due ON triggers (ticker, next_fire_at) WHERE state = 'RUNNING' AND next_fire_at IS NOT NULL;
@mysql ALTER TABLE triggers DROP INDEX triggers_due, ADD INDEX triggers_due (ticker, state, next_fire_at);

-- Of flows alone: without statistics PostgreSQL took this one, with all that is not in a flow, to look for a name.
@partial DROP INDEX triggers_of_flow;
@partial CREATE INDEX triggers_of_flow ON triggers (org_id, namespace, flow_name) WHERE flow_name IS NOT NULL;

-- Each retry waits twice as long as the one before.
ALTER TABLE runs ADD COLUMN retry_doubles SMALLINT DEFAULT 0 NOT NULL;

-- For the history of a job that fires often and hardly ever skips; MySQL, without partial indexes, would pay at each fire.
@partial CREATE INDEX fires_skipped ON fires (trigger_id, fire_at) WHERE outcome = 'SKIPPED';
