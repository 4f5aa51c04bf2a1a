-- name: set_run_arguments
UPDATE runs SET arguments = :arguments WHERE id = :id AND run_at = :run_at
