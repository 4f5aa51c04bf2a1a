-- name: submit_bundle
INSERT INTO bundles (id, namespace, node, host, lease_until, created_at, calls)
VALUES (:id, :namespace, :node, :host,
  (extract(epoch FROM statement_timestamp()) * 1000000)::bigint + :offset_us + :ttl_us,
  (extract(epoch FROM statement_timestamp()) * 1000000)::bigint + :offset_us, :calls)
RETURNING created_at AS now
