-- name: lock_organisation
-- Held by whoever gives or takes a name or a membership: a user and a group never come to have the same name.
SELECT id FROM organisations WHERE id = :id {lock}

-- name: insert_group
INSERT INTO user_groups (id, org_id, name, created_at) VALUES (:id, :org_id, :name, :created_at)

-- name: group_by_name
SELECT id, org_id, name FROM user_groups WHERE org_id = :org_id AND name = :name

-- name: groups_of_org
SELECT id, org_id, name FROM user_groups WHERE org_id = :org_id ORDER BY name

-- name: delete_group
DELETE FROM user_groups WHERE id = :id

-- name: members_of_groups
SELECT m.group_id, u.name FROM group_members m JOIN users u ON u.id = m.user_id
WHERE m.group_id IN :group_ids AND u.disabled_at IS NULL ORDER BY u.name

-- name: groups_of_user
SELECT g.name FROM group_members m JOIN user_groups g ON g.id = m.group_id WHERE m.user_id = :user_id

-- name: membership
SELECT user_id FROM group_members WHERE group_id = :group_id AND user_id = :user_id

-- name: insert_group_member
INSERT INTO group_members (group_id, user_id) VALUES (:group_id, :user_id)

-- name: delete_group_member
DELETE FROM group_members WHERE group_id = :group_id AND user_id = :user_id

-- name: delete_members_of_group
DELETE FROM group_members WHERE group_id = :group_id

-- name: delete_memberships_of_user
DELETE FROM group_members WHERE user_id = :user_id

-- name: revoke_access_keys_of_member
UPDATE access_keys SET revoked_at = :now WHERE user_id = :user_id AND group_id = :group_id AND revoked_at IS NULL

-- name: revoke_tokens_of_member
UPDATE tokens SET revoked_at = :now WHERE user_id = :user_id AND group_id = :group_id AND revoked_at IS NULL

-- name: revoke_access_keys_of_group
UPDATE access_keys SET revoked_at = :now WHERE group_id = :group_id AND revoked_at IS NULL

-- name: revoke_tokens_of_group
UPDATE tokens SET revoked_at = :now WHERE group_id = :group_id AND revoked_at IS NULL

-- name: count_owned
-- What an owner has, by kind; every version of a secret is a row of its own.
SELECT 'job' AS kind, COUNT(*) AS count FROM jobs WHERE org_id = :org_id AND owner = :owner
UNION ALL SELECT 'trigger', COUNT(*) FROM triggers WHERE org_id = :org_id AND owner = :owner
UNION ALL SELECT 'flow', COUNT(*) FROM flows WHERE org_id = :org_id AND owner = :owner
UNION ALL SELECT 'crawler', COUNT(*) FROM crawlers WHERE org_id = :org_id AND owner = :owner
UNION ALL SELECT 'secret', COUNT(DISTINCT name) FROM secrets
  WHERE org_id = :org_id AND owner = :owner AND deleted_at IS NULL
