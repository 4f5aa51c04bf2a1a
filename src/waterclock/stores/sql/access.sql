-- name: insert_organisation
INSERT INTO organisations (id, account, name, created_at) VALUES (:id, :account, :name, :created_at)

-- name: organisation
SELECT id, account, name FROM organisations WHERE id = :id

-- name: insert_user
INSERT INTO users (id, org_id, name, role, works, created_at, disabled_at)
VALUES (:id, :org_id, :name, :role, :works, :created_at, :disabled_at)

-- name: user_by_name
SELECT u.id, u.org_id, o.account, u.name, CASE WHEN u.works = 1 THEN 'worker' ELSE u.role END AS role
FROM users u JOIN organisations o ON o.id = u.org_id
WHERE u.org_id = :org_id AND u.name = :name AND (u.disabled_at IS NULL OR u.works = 1)

-- name: users_of_org
SELECT u.id, u.org_id, o.account, u.name, CASE WHEN u.works = 1 THEN 'worker' ELSE u.role END AS role
FROM users u JOIN organisations o ON o.id = u.org_id
WHERE u.org_id = :org_id AND (u.disabled_at IS NULL OR u.works = 1) ORDER BY u.name

-- name: count_users
SELECT COUNT(*) AS count FROM users

-- name: update_user_role
UPDATE users SET role = :role, works = :works, disabled_at = :disabled_at WHERE id = :id

-- name: delete_user
DELETE FROM users WHERE id = :id

-- name: insert_access_key
INSERT INTO access_keys (id, org_id, user_id, group_id, sealed_secret, created_at)
VALUES (:id, :org_id, :user_id, :group_id, :sealed_secret, :created_at)

-- name: live_access_key
-- A revoked key, or one of a disabled user, or for a group its user has left, is as unknown as one that never was.
SELECT k.id AS key_id, k.sealed_secret, u.id, u.org_id, o.account, u.name, CASE WHEN u.works = 1 THEN 'worker' ELSE u.role END AS role,
  g.name AS group_name
FROM access_keys k JOIN users u ON u.id = k.user_id JOIN organisations o ON o.id = u.org_id
LEFT JOIN group_members m ON m.group_id = k.group_id AND m.user_id = k.user_id
LEFT JOIN user_groups g ON g.id = m.group_id
WHERE k.id = :id AND k.revoked_at IS NULL AND (u.disabled_at IS NULL OR u.works = 1) AND (k.group_id IS NULL OR g.id IS NOT NULL)

-- name: access_keys_of_user
SELECT k.id, g.name AS group_name, k.created_at, k.revoked_at
FROM access_keys k LEFT JOIN user_groups g ON g.id = k.group_id WHERE k.user_id = :user_id ORDER BY k.created_at, k.id

-- name: revoke_access_key
UPDATE access_keys SET revoked_at = :now WHERE id = :id AND user_id = :user_id AND revoked_at IS NULL

-- name: revoke_access_keys_of_user
UPDATE access_keys SET revoked_at = :now WHERE user_id = :user_id AND revoked_at IS NULL

-- name: insert_token
INSERT INTO tokens (id, org_id, user_id, group_id, name, digest, created_at, expires_at)
VALUES (:id, :org_id, :user_id, :group_id, :name, :digest, :created_at, :expires_at)

-- name: live_token
SELECT u.id, u.org_id, o.account, u.name, CASE WHEN u.works = 1 THEN 'worker' ELSE u.role END AS role,
  g.name AS group_name
FROM tokens t JOIN users u ON u.id = t.user_id JOIN organisations o ON o.id = u.org_id
LEFT JOIN group_members m ON m.group_id = t.group_id AND m.user_id = t.user_id
LEFT JOIN user_groups g ON g.id = m.group_id
WHERE t.digest = :digest AND t.revoked_at IS NULL AND (t.expires_at IS NULL OR t.expires_at > :now)
  AND (u.disabled_at IS NULL OR u.works = 1) AND (t.group_id IS NULL OR g.id IS NOT NULL)

-- name: tokens_of_user
SELECT t.id, t.name, g.name AS group_name, t.created_at, t.expires_at, t.revoked_at
FROM tokens t LEFT JOIN user_groups g ON g.id = t.group_id WHERE t.user_id = :user_id ORDER BY t.created_at, t.id

-- name: revoke_token
UPDATE tokens SET revoked_at = :now WHERE id = :id AND user_id = :user_id AND revoked_at IS NULL

-- name: revoke_tokens_of_user
UPDATE tokens SET revoked_at = :now WHERE user_id = :user_id AND revoked_at IS NULL
