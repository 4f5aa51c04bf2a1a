-- name: submit_bundle
-- Calls that are taken as they are asked for; the lease begins at the database's own time.
INSERT INTO bundles (id, namespace, node, host, lease_until, created_at, calls)
VALUES (:id, :namespace, :node, :host, :now + :ttl_us, :now, :calls)
