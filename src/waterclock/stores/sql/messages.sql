-- name: insert_message
INSERT INTO messages (id, org_id, kind, severity, run_id, chain_id, flow_run_id, tag, subtag, node, subject, body,
  created_at)
VALUES (:id, :org_id, :kind, :severity, :run_id, :chain_id, :flow_run_id, :tag, :subtag, :node, :subject, :body,
  :created_at)

-- name: messages_of_org
SELECT * FROM messages
WHERE org_id = :org_id AND id < :before AND (:unread = 0 OR read_at IS NULL) AND (:kind = '' OR kind = :kind)
  AND (:tag = '' OR tag = :tag OR subtag = :tag) AND (chain_id = :chain_id OR :chain_id = 0)
ORDER BY id DESC LIMIT :limit

-- name: newest_message
SELECT MAX(id) AS id FROM messages WHERE org_id = :org_id

-- name: unread_messages
SELECT id FROM messages WHERE org_id = :org_id AND id <= :last AND read_at IS NULL ORDER BY id LIMIT :limit

-- name: read_messages
UPDATE messages SET read_at = :now WHERE org_id = :org_id AND id IN :ids AND read_at IS NULL

-- name: old_messages
-- What nobody has read is kept longer.
SELECT id FROM messages
WHERE created_at < :before AND (read_at IS NOT NULL OR created_at < :unread_before) ORDER BY created_at LIMIT :limit

-- name: delete_messages
DELETE FROM messages WHERE id IN :ids

-- name: overdue_runs
-- Running longer than their job said would be usual, and nobody was told yet.
SELECT id, run_at, org_id, wire_id, job_name, notify_after_seconds FROM runs
WHERE state = 'RUNNING' AND notify_after_seconds IS NOT NULL AND notified_at IS NULL
  AND started_at + notify_after_seconds * 1000000 < :now
LIMIT :limit {skip_locked}

-- name: nodes_of_runs
SELECT run_id, node FROM attempts WHERE run_id IN :run_ids AND state = 'RUNNING'

-- name: mark_notified
UPDATE runs SET notified_at = :now WHERE id = :id AND run_at = :run_at
