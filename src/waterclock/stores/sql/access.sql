-- name: insert_organisation
INSERT INTO organisations (id, account, name, created_at) VALUES (:id, :account, :name, :created_at)

-- name: organisation
SELECT id, account, name FROM organisations WHERE id = :id

-- name: insert_user
INSERT INTO users (id, org_id, name, role, created_at) VALUES (:id, :org_id, :name, :role, :created_at)

-- name: user_by_name
SELECT u.id, u.org_id, o.account, u.name, u.role FROM users u JOIN organisations o ON o.id = u.org_id
WHERE u.org_id = :org_id AND u.name = :name AND u.disabled_at IS NULL

-- name: users_of_org
SELECT u.id, u.org_id, o.account, u.name, u.role FROM users u JOIN organisations o ON o.id = u.org_id
WHERE u.org_id = :org_id AND u.disabled_at IS NULL ORDER BY u.name

-- name: count_users
SELECT COUNT(*) AS count FROM users

-- name: update_user_role
UPDATE users SET role = :role WHERE id = :id

-- name: delete_user
DELETE FROM users WHERE id = :id

-- name: insert_access_key
INSERT INTO access_keys (id, org_id, user_id, sealed_secret, created_at)
VALUES (:id, :org_id, :user_id, :sealed_secret, :created_at)

-- name: live_access_key
-- A revoked key, or one of a disabled user, is as unknown as one that never was.
SELECT k.id AS key_id, k.sealed_secret, u.id, u.org_id, o.account, u.name, u.role FROM access_keys k
JOIN users u ON u.id = k.user_id JOIN organisations o ON o.id = u.org_id
WHERE k.id = :id AND k.revoked_at IS NULL AND u.disabled_at IS NULL

-- name: access_keys_of_user
SELECT id, created_at, revoked_at FROM access_keys WHERE user_id = :user_id ORDER BY created_at, id

-- name: revoke_access_key
UPDATE access_keys SET revoked_at = :now WHERE id = :id AND user_id = :user_id AND revoked_at IS NULL

-- name: revoke_access_keys_of_user
UPDATE access_keys SET revoked_at = :now WHERE user_id = :user_id AND revoked_at IS NULL

-- name: insert_token
INSERT INTO tokens (id, org_id, user_id, name, digest, created_at, expires_at)
VALUES (:id, :org_id, :user_id, :name, :digest, :created_at, :expires_at)

-- name: live_token
SELECT u.id, u.org_id, o.account, u.name, u.role FROM tokens t
JOIN users u ON u.id = t.user_id JOIN organisations o ON o.id = u.org_id
WHERE t.digest = :digest AND t.revoked_at IS NULL AND (t.expires_at IS NULL OR t.expires_at > :now)
  AND u.disabled_at IS NULL

-- name: tokens_of_user
SELECT id, name, created_at, expires_at, revoked_at FROM tokens WHERE user_id = :user_id ORDER BY created_at, id

-- name: revoke_token
UPDATE tokens SET revoked_at = :now WHERE id = :id AND user_id = :user_id AND revoked_at IS NULL

-- name: revoke_tokens_of_user
UPDATE tokens SET revoked_at = :now WHERE user_id = :user_id AND revoked_at IS NULL
