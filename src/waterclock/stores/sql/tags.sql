-- name: tags_of_job
SELECT id, owner, tags FROM jobs WHERE org_id = :org_id AND namespace = :namespace AND name = :name

-- name: tags_of_trigger
SELECT id, owner, tags FROM triggers WHERE org_id = :org_id AND namespace = :namespace AND name = :name

-- name: tags_of_flow
SELECT id, owner, tags FROM flows WHERE org_id = :org_id AND namespace = :namespace AND name = :name

-- name: tags_of_crawler
SELECT id, owner, tags FROM crawlers WHERE org_id = :org_id AND name = :name

-- name: lock_tags_of_job
SELECT id, owner, tags FROM jobs WHERE org_id = :org_id AND namespace = :namespace AND name = :name {lock}

-- name: lock_tags_of_trigger
SELECT id, owner, tags FROM triggers WHERE org_id = :org_id AND namespace = :namespace AND name = :name {lock}

-- name: lock_tags_of_flow
SELECT id, owner, tags FROM flows WHERE org_id = :org_id AND namespace = :namespace AND name = :name {lock}

-- name: lock_tags_of_crawler
SELECT id, owner, tags FROM crawlers WHERE org_id = :org_id AND name = :name {lock}

-- name: set_tags_of_job
-- No version changes with the tags: they say nothing about how a thing runs.
UPDATE jobs SET tags = :tags WHERE id = :id

-- name: set_tags_of_trigger
UPDATE triggers SET tags = :tags WHERE id = :id

-- name: set_tags_of_flow
UPDATE flows SET tags = :tags WHERE id = :id

-- name: set_tags_of_crawler
UPDATE crawlers SET tags = :tags WHERE id = :id

-- name: job_tags_of_org
-- In the order of jobs_of_org, so that the place after one is the same in both.
SELECT id, name, tags FROM jobs WHERE org_id = :org_id AND namespace = :namespace AND name >= :after
  AND (name > :after OR id > :after_id)
ORDER BY name, id LIMIT :limit

-- name: trigger_tags_of_org
SELECT id, name, tags FROM triggers WHERE org_id = :org_id AND namespace = :namespace AND name >= :after
  AND (name > :after OR id > :after_id)
ORDER BY name, id LIMIT :limit

-- name: crawler_tags_of_org
SELECT id, name, tags FROM crawlers WHERE org_id = :org_id AND name >= :after AND (name > :after OR id > :after_id)
ORDER BY name, id LIMIT :limit

-- name: trigger_tags_of_job
SELECT t.id, t.name, t.tags FROM triggers t WHERE t.org_id = :org_id AND t.namespace = :namespace AND t.name >= :after
  AND (t.name > :after OR t.id > :after_id)
AND EXISTS (SELECT 1 FROM trigger_actions a WHERE a.trigger_id = t.id AND a.target = 'job' AND a.name = :job_name)
ORDER BY t.name, t.id LIMIT :limit
