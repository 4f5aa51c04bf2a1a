-- When each trigger that is set going is due next: its index, as a table of its own. An update that changes what an index
-- has becomes a new row in every index of its table, that of names included; one that does not is made in its place.
-- So a fire leaves all indexes of `triggers` alone. The column `next_fire_at` there stays what counts; the database
-- keeps this table by itself, whoever writes: the version before does not know it.
-- Made by step 0009 and never changed: the version before may be writing. Another one has another name.

CREATE TABLE trigger_instants (
  trigger_id BIGINT NOT NULL PRIMARY KEY,
  ticker VARCHAR(16) NOT NULL,
  next_fire_at BIGINT NOT NULL
);

-- Room for each row once more beside it: those that were made together are due together, and move on in one statement.
ALTER TABLE triggers SET (fillfactor = 50);

-- Row by row through the key, whatever is known of the tables: a plan that was made for a few would be kept for many.
CREATE FUNCTION wc_note_instants() RETURNS TRIGGER
LANGUAGE plpgsql SET search_path FROM CURRENT SET enable_seqscan = off AS $$
BEGIN
  INSERT INTO trigger_instants AS i (trigger_id, ticker, next_fire_at)
    SELECT id, ticker, next_fire_at FROM written WHERE state = 'RUNNING' AND next_fire_at IS NOT NULL
    ON CONFLICT (trigger_id) DO UPDATE SET ticker = excluded.ticker, next_fire_at = excluded.next_fire_at
      WHERE i.next_fire_at <> excluded.next_fire_at OR i.ticker <> excluded.ticker;
  DELETE FROM trigger_instants WHERE trigger_id = ANY (ARRAY(
    SELECT id FROM written WHERE state <> 'RUNNING' OR next_fire_at IS NULL));
  RETURN NULL;
END $$;

CREATE FUNCTION wc_forget_instants() RETURNS TRIGGER
LANGUAGE plpgsql SET search_path FROM CURRENT SET enable_seqscan = off AS $$
BEGIN
  IF TG_OP = 'TRUNCATE' THEN
    TRUNCATE trigger_instants;
  ELSE
    DELETE FROM trigger_instants WHERE trigger_id = ANY (ARRAY(SELECT id FROM gone));
  END IF;
  RETURN NULL;
END $$;

CREATE TRIGGER wc_instants_inserted AFTER INSERT ON triggers REFERENCING NEW TABLE AS written
  FOR EACH STATEMENT EXECUTE FUNCTION wc_note_instants();
CREATE TRIGGER wc_instants_updated AFTER UPDATE ON triggers REFERENCING NEW TABLE AS written
  FOR EACH STATEMENT EXECUTE FUNCTION wc_note_instants();
CREATE TRIGGER wc_instants_deleted AFTER DELETE ON triggers REFERENCING OLD TABLE AS gone
  FOR EACH STATEMENT EXECUTE FUNCTION wc_forget_instants();
CREATE TRIGGER wc_instants_truncated AFTER TRUNCATE ON triggers
  FOR EACH STATEMENT EXECUTE FUNCTION wc_forget_instants();

INSERT INTO trigger_instants (trigger_id, ticker, next_fire_at)
  SELECT id, ticker, next_fire_at FROM triggers WHERE state = 'RUNNING' AND next_fire_at IS NOT NULL;

DROP INDEX triggers_due;
CREATE INDEX triggers_due ON trigger_instants (ticker, next_fire_at);
