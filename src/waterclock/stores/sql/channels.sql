-- name: insert_channel
INSERT INTO channels (org_id, name, sealed, shown, rules, is_on, owner, created_at, updated_at)
VALUES (:org_id, :name, :sealed, :shown, :rules, :is_on, :owner, :now, :now)

-- name: channel_by_name
SELECT * FROM channels WHERE org_id = :org_id AND name = :name

-- name: lock_channel
SELECT * FROM channels WHERE org_id = :org_id AND name = :name {lock}

-- name: channels_of_org
SELECT * FROM channels WHERE org_id = :org_id AND name > :after ORDER BY name LIMIT :limit

-- name: channels_on
-- Where the messages of these organisations may go.
SELECT org_id, name, rules FROM channels WHERE org_id IN :org_ids AND is_on = 1 ORDER BY org_id, name

-- name: update_channel
UPDATE channels SET sealed = :sealed, shown = :shown, rules = :rules, is_on = :is_on, reported_at = :reported_at,
  updated_at = :now
WHERE org_id = :org_id AND name = :name

-- name: delete_channel
DELETE FROM channels WHERE org_id = :org_id AND name = :name

-- name: channel_has_sent
UPDATE channels SET last_sent_at = :now, reported_at = NULL WHERE org_id = :org_id AND name = :name

-- name: channel_has_failed
UPDATE channels SET last_failed_at = :now, last_error = :error WHERE org_id = :org_id AND name = :name

-- name: report_channel
UPDATE channels SET reported_at = :now WHERE org_id = :org_id AND name = :name AND reported_at IS NULL

-- name: stale_channels
-- Sealed with another key than the one whose seals begin with :current.
SELECT org_id, name, sealed FROM channels WHERE sealed NOT LIKE :current ORDER BY org_id, name

-- name: reseal_channel
UPDATE channels SET sealed = :sealed WHERE org_id = :org_id AND name = :name AND sealed = :was

-- name: message_to_route
SELECT id FROM messages WHERE routed_at IS NULL LIMIT 1

-- name: messages_to_route
SELECT * FROM messages WHERE routed_at IS NULL ORDER BY id LIMIT :limit {skip_locked}

-- name: muted_nodes
SELECT id FROM nodes WHERE id IN :ids AND debugmode = 'debug'

-- name: mark_routed
UPDATE messages SET routed_at = :now WHERE id IN :ids

-- name: insert_delivery
INSERT INTO deliveries (message_id, channel, org_id, state, tries, due_at, created_at)
VALUES (:message_id, :channel, :org_id, 'QUEUED', 0, :now, :now)

-- name: queued_channels
-- Which channels have something on the way, and when the first of it is due.
SELECT org_id, channel, MIN(due_at) AS first_due_at FROM deliveries WHERE state = 'QUEUED'
GROUP BY org_id, channel ORDER BY first_due_at, org_id, channel

-- name: due_deliveries
SELECT message_id, tries FROM deliveries
WHERE state = 'QUEUED' AND org_id = :org_id AND channel = :channel AND due_at <= :now
ORDER BY due_at, message_id LIMIT :limit {skip_locked}

-- name: take_deliveries
UPDATE deliveries SET tries = tries + 1, due_at = :until WHERE message_id IN :message_ids AND channel = :channel

-- name: messages_by_id
SELECT * FROM messages WHERE id IN :ids ORDER BY id

-- name: end_delivery
-- Sent is sent, whoever says so.
UPDATE deliveries SET state = :state, error = :error, ended_at = :now
WHERE message_id = :message_id AND channel = :channel AND state = 'QUEUED'

-- name: put_off_delivery
-- Unless somebody else tries it by now.
UPDATE deliveries SET due_at = :due_at, error = :error
WHERE message_id = :message_id AND channel = :channel AND state = 'QUEUED' AND tries = :tries

-- name: fail_delivery
UPDATE deliveries SET state = 'FAILED', error = :error, ended_at = :now
WHERE message_id = :message_id AND channel = :channel AND state = 'QUEUED' AND tries = :tries

-- name: drop_deliveries
-- To a channel that is gone or off: nobody waits for them.
UPDATE deliveries SET state = 'FAILED', error = :error, ended_at = :now
WHERE org_id = :org_id AND channel = :channel AND state = 'QUEUED'

-- name: delete_deliveries
DELETE FROM deliveries WHERE message_id IN :ids
