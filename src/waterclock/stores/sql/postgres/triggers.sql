-- name: triggers_of_org
-- Each namespace by itself, in the order of its names: all of them at once would be read and sorted to the last.
SELECT p.* FROM unnest(CAST(:namespaces AS TEXT[])) n,
  LATERAL (SELECT * FROM triggers WHERE org_id = :org_id AND namespace = n AND name >= :after
    AND (name > :after OR id > :after_id) ORDER BY name, id LIMIT :limit) p
ORDER BY p.name, p.id LIMIT :limit
