-- name: insert_secret
INSERT INTO secrets (org_id, name, version, sealed, owner, description, created_by, created_at)
VALUES (:org_id, :name, :version, :sealed, :owner, :description, :created_by, :created_at)

-- name: latest_secret_version
-- Of all that ever were: a number is never used again, not even after a secret was deleted.
SELECT MAX(version) AS version FROM secrets WHERE org_id = :org_id AND name = :name

-- name: secret_by_name
SELECT s.name, s.version, s.owner, s.description, s.created_by, s.created_at AS updated_at, f.created_at
FROM (SELECT MAX(version) AS version, MIN(created_at) AS created_at FROM secrets
  WHERE org_id = :org_id AND name = :name AND deleted_at IS NULL) f
JOIN secrets s ON s.org_id = :org_id AND s.name = :name AND s.version = f.version

-- name: secrets_of_org
SELECT s.name, s.version, s.owner, s.description, s.created_by, s.created_at AS updated_at, f.created_at
FROM (SELECT name, MAX(version) AS version, MIN(created_at) AS created_at FROM secrets
  WHERE org_id = :org_id AND name > :after AND deleted_at IS NULL GROUP BY name ORDER BY name LIMIT :limit) f
JOIN secrets s ON s.org_id = :org_id AND s.name = f.name AND s.version = f.version ORDER BY s.name

-- name: delete_secret
-- Its versions stay, sealed: old logs are masked with them.
UPDATE secrets SET deleted_at = :now WHERE org_id = :org_id AND name = :name AND deleted_at IS NULL

-- name: secret_versions
SELECT name, version, sealed, deleted_at FROM secrets WHERE org_id = :org_id AND name IN :names ORDER BY name, version

-- name: stale_secrets
-- Sealed with another key than the one whose seals begin with :current.
SELECT org_id, name, version, sealed FROM secrets WHERE sealed NOT LIKE :current ORDER BY org_id, name, version

-- name: reseal_secret
UPDATE secrets SET sealed = :sealed WHERE org_id = :org_id AND name = :name AND version = :version AND sealed = :was

-- name: stale_access_keys
SELECT id, sealed_secret FROM access_keys WHERE revoked_at IS NULL AND sealed_secret NOT LIKE :current ORDER BY id

-- name: reseal_access_key
UPDATE access_keys SET sealed_secret = :sealed WHERE id = :id AND sealed_secret = :was
