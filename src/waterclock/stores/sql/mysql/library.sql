-- name: insert_library_trigger
INSERT IGNORE INTO triggers (id, org_id, namespace, name, owner, type, state, schedule, misfire, next_fire_at, version,
  generation, definition, tags, ticker, job_id, created_at, updated_at)
VALUES (:id, :org_id, :namespace, :name, :owner, 'SCHEDULED', :state, :schedule, :misfire, :next_fire_at, 1,
  1, :definition, :tags, :namespace, :job_id, :now, :now)

-- name: table_of_apscheduler
SELECT 1 AS found FROM information_schema.columns
WHERE table_schema = DATABASE() AND table_name = :name AND column_name = 'job_state'
