-- name: remember_call
-- Whoever is first leaves the answer; a copy of the call that comes at the same time waits here for the commit.
-- What is older than :expired stands no more.
INSERT INTO idempotent_calls (digest, answer, created_at) VALUES (:digest, :answer, :now)
ON CONFLICT (digest) DO UPDATE SET answer = excluded.answer, created_at = excluded.created_at
WHERE idempotent_calls.created_at <= :expired

-- name: answers_of_calls
SELECT digest, answer FROM idempotent_calls WHERE digest IN :digests

-- name: forget_calls
DELETE FROM idempotent_calls WHERE digest IN :digests

-- name: forget_old_calls
DELETE FROM idempotent_calls WHERE created_at <= :before
