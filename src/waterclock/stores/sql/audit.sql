-- name: insert_audit
INSERT INTO audit (at, org_id, user_name, address, face, action, resource, status, error, ms, request_id)
VALUES (:at, :org_id, :user, :address, :face, :action, :resource, :status, :error, :ms, :request_id)

-- name: audit_of_org
-- A run's resource is its job's name, a slash and its id: who asks for a job finds its runs, too.
SELECT seq, at, org_id, user_name, address, face, action, resource, status, error, ms, request_id FROM audit
WHERE org_id = :org_id AND at >= :since AND at < :until AND at <= :before AND (at < :before OR seq < :before_seq)
  AND (:user = '' OR user_name = :user) AND (:action = '' OR action = :action)
  AND (:resource = '' OR resource = :resource OR SUBSTR(resource, 1, :length) = :below)
ORDER BY at DESC, seq DESC LIMIT :limit

-- name: audit_journal
SELECT stored FROM audit_journals WHERE id = :id

-- name: lock_audit_journal
SELECT stored FROM audit_journals WHERE id = :id {lock}

-- name: insert_audit_journal
INSERT INTO audit_journals (id, stored) VALUES (:id, :stored)

-- name: move_audit_journal
UPDATE audit_journals SET stored = :stored WHERE id = :id

-- name: delete_audit_journal
DELETE FROM audit_journals WHERE id = :id

-- name: old_audit
SELECT seq FROM audit WHERE at < :before LIMIT :limit

-- name: delete_audit
DELETE FROM audit WHERE seq IN :seqs
