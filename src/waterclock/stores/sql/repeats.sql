-- name: remember_call
-- Whoever is first leaves the answer; a copy of the call that comes at the same time waits here for the commit.
INSERT INTO idempotent_calls (digest, answer, created_at) VALUES (:digest, :answer, :now)
ON CONFLICT (digest) DO NOTHING

-- name: insert_call
-- Of a call that was hardly ever made before: where it was, its copy fails here as a whole, and is looked at closely.
INSERT INTO idempotent_calls (digest, answer, created_at) VALUES (:digest, :answer, :now)

-- name: answers_of_calls
SELECT digest, answer, created_at FROM idempotent_calls WHERE digest IN :digests

-- name: forget_calls
DELETE FROM idempotent_calls WHERE digest IN :digests AND created_at <= :until

-- name: old_calls
SELECT digest FROM idempotent_calls WHERE created_at <= :until LIMIT :limit
