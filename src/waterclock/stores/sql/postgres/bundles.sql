-- name: hold_bundles_at_once
-- What has ended of them is written in the same statement, where all of them are still there; at the time when they were
-- found and locked.
WITH held AS MATERIALIZED (SELECT id FROM bundles WHERE id IN :ids ORDER BY id FOR UPDATE),
fit AS MATERIALIZED (SELECT COUNT(*) = CAST(:count AS BIGINT) AS yes,
  (extract(epoch FROM clock_timestamp()) * 1000000)::bigint + CAST(:offset_us AS BIGINT) AS now FROM held)
SELECT now, yes FROM fit

-- name: submit_bundle
INSERT INTO bundles (id, namespace, node, host, lease_until, created_at, calls)
VALUES (:id, :namespace, :node, :host, CAST(:now AS BIGINT) + CAST(:ttl_us AS BIGINT), :now, :calls)

-- name: at_this_moment
WITH fit AS MATERIALIZED (SELECT TRUE AS yes,
  (extract(epoch FROM clock_timestamp()) * 1000000)::bigint + CAST(:offset_us AS BIGINT) AS now)
SELECT now, yes FROM fit
