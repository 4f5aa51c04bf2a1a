-- name: insert_crawler
INSERT INTO crawlers (id, org_id, name, owner, definition, tags, created_at, updated_at)
VALUES (:id, :org_id, :name, :owner, :definition, :tags, :created_at, :updated_at)

-- name: crawler_by_name
SELECT * FROM crawlers WHERE org_id = :org_id AND name = :name

-- name: crawlers_by_names
SELECT * FROM crawlers WHERE org_id = :org_id AND name IN :names

-- name: crawlers_of_org
-- One page, by name and number; `after` and `after_id` are those of the last on the page before.
SELECT * FROM crawlers WHERE org_id = :org_id AND name >= :after AND (name > :after OR id > :after_id)
ORDER BY name, id LIMIT :limit

-- name: lock_crawler
SELECT * FROM crawlers WHERE org_id = :org_id AND name = :name {lock}

-- name: delete_crawler
DELETE FROM crawlers WHERE id = :id
