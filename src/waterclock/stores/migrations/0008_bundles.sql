-- Short calls leave each row once. Marks as in 0001; only additions, as from 0005 on.

-- What a program has taken as it was fired, in one row until each call has ended or is seen to be long; then it has rows
-- of its own. Whoever finds one whose lease is over writes the rows of what is left in it.
CREATE TABLE bundles (
  id BIGINT NOT NULL PRIMARY KEY,
  namespace VARCHAR(16) NOT NULL,
  node VARCHAR(36) NOT NULL,
  host VARCHAR(36) NOT NULL,
  lease_until BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  calls {text} NOT NULL
);
CREATE INDEX bundles_leased ON bundles (lease_until);
