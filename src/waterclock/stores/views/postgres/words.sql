-- What the views need and PostgreSQL says in its own way.

-- name: member
-- The text of a JSON member, NULL where it is missing. An escaped NUL anywhere would make the whole text unreadable.
CAST(replace($1, '\u0000', '\ufffd') AS JSON) #>> string_to_array('$2', '.')

-- name: whole
CAST($1 AS BIGINT)

-- name: flag
COALESCE($1, FALSE)

-- name: moment
TIMESTAMPTZ '1970-01-01 00:00:00+00' + $1 * INTERVAL '1 microsecond'

-- name: milliseconds
($1) / 1000

-- name: last_part
regexp_replace($1, '^.*/', '')

-- name: no_bytes
CAST(NULL AS BYTEA)

-- name: second
to_timestamp($1 / 1000000)

-- name: now
-- In microseconds.
CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS BIGINT)

-- name: digits
-- A number as text, without a point where it is whole.
CAST($1 AS TEXT)

-- name: joined
$1 || ': ' || $2

-- name: desc
"desc"

-- name: object
-- A JSON object of names and values, as text.
CAST(json_build_object($1) AS TEXT)

-- name: nested
-- JSON that is kept as text, as a value in an object.
CAST($1 AS JSON)
