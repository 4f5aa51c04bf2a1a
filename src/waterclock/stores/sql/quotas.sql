-- name: lock_quotas
-- A user's own line and everybody's. Held until the commit: of two who take the last place one waits for the other.
SELECT user_name, most FROM quotas WHERE org_id = :org_id AND kind = :kind AND user_name IN :names
ORDER BY user_name {lock}

-- name: quotas_of_org
SELECT user_name, kind, most FROM quotas WHERE org_id = :org_id ORDER BY kind, user_name

-- name: orgs_with_quota
SELECT DISTINCT org_id FROM quotas WHERE kind = :kind

-- name: delete_quota
DELETE FROM quotas WHERE org_id = :org_id AND user_name = :user_name AND kind = :kind

-- name: insert_quota
INSERT INTO quotas (org_id, user_name, kind, most) VALUES (:org_id, :user_name, :kind, :most)

-- name: used_jobs
-- What a chain is made of counts as the chain.
SELECT COUNT(*) AS used FROM jobs WHERE org_id = :org_id AND owner = :user_name AND namespace <> 'chains'

-- name: used_triggers
SELECT COUNT(*) AS used FROM triggers WHERE org_id = :org_id AND owner = :user_name AND namespace <> 'chains'

-- name: used_workflows
SELECT COUNT(*) AS used FROM flows WHERE org_id = :org_id AND owner = :user_name AND namespace <> 'chains'

-- name: used_chains
SELECT COUNT(*) AS used FROM chains WHERE org_id = :org_id AND owner = :user_name

-- name: used_live_runs
SELECT COUNT(*) AS used FROM runs
WHERE state IN ('WAITING', 'STARTING', 'RUNNING', 'STOPPING') AND org_id = :org_id AND requested_by = :user_name
