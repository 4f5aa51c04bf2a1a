-- name: remember_call
-- From left to right: the time is looked at before it is changed.
INSERT INTO idempotent_calls (digest, answer, created_at) VALUES (:digest, :answer, :now)
ON DUPLICATE KEY UPDATE answer = IF(created_at <= :expired, VALUES(answer), answer),
  created_at = IF(created_at <= :expired, VALUES(created_at), created_at)
