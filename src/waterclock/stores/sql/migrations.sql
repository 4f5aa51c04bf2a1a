-- name: taken_steps
SELECT version, name, statements FROM schema_migrations
