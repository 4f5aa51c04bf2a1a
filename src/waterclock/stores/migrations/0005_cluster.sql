-- Many nodes: what a worker has room for, who drains, what a user may have at most. Marks as in 0001. Only additions, each
-- with a default: nodes of the version before go on beside ours until they are replaced.

-- What the run asks for, so that a worker takes what fits.
ALTER TABLE attempts ADD COLUMN memory_mb INTEGER DEFAULT 0 NOT NULL;

-- An empty list: a node of the version before, which does not say.
ALTER TABLE nodes ADD COLUMN queues VARCHAR(1000) DEFAULT '' NOT NULL;
ALTER TABLE nodes ADD COLUMN memory_mb INTEGER DEFAULT 0 NOT NULL;
ALTER TABLE nodes ADD COLUMN running INTEGER DEFAULT 0 NOT NULL;
-- How late the fires of its last minute were: of 99 in 100 at most, the median, the latest.
ALTER TABLE nodes ADD COLUMN late_us BIGINT DEFAULT 0 NOT NULL;
ALTER TABLE nodes ADD COLUMN late_median_us BIGINT DEFAULT 0 NOT NULL;
ALTER TABLE nodes ADD COLUMN late_most_us BIGINT DEFAULT 0 NOT NULL;
-- Somebody told it to take nothing more; it says that it takes nothing more and that nothing runs there.
ALTER TABLE nodes ADD COLUMN draining_at BIGINT;
ALTER TABLE nodes ADD COLUMN drained_at BIGINT;
-- Of a worker over HTTP: it sees the runs of its organisation alone.
ALTER TABLE nodes ADD COLUMN org_id BIGINT;

-- Users of the role worker. To a node of the version before, which does not know that role, they are disabled.
ALTER TABLE users ADD COLUMN works INTEGER DEFAULT 0 NOT NULL;

-- The most that a user may have of something; an empty name stands for every user of the organisation without a line.
CREATE TABLE quotas (
  org_id BIGINT NOT NULL,
  user_name VARCHAR(255) NOT NULL,
  kind VARCHAR(32) NOT NULL,
  most BIGINT NOT NULL,
  PRIMARY KEY (org_id, user_name, kind)
);
