-- name: remember_call
INSERT IGNORE INTO idempotent_calls (digest, answer, created_at) VALUES (:digest, :answer, :now)
