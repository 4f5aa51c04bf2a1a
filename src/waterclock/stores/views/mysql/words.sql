-- What the views need and MySQL and MariaDB say in their own way. No percent sign: the driver would take it for a mark.

-- name: member
-- The text of a JSON member, NULL where it is missing or null.
CASE JSON_TYPE(JSON_EXTRACT($1, '$.$2')) WHEN 'NULL' THEN NULL ELSE JSON_UNQUOTE(JSON_EXTRACT($1, '$.$2')) END

-- name: whole
CAST($1 AS SIGNED)

-- name: flag
COALESCE($1, 0)

-- name: moment
-- DATETIME(6) in the session's time zone, as a TIMESTAMP column would show it.
FROM_UNIXTIME($1 * 0.000001)

-- name: milliseconds
($1) DIV 1000

-- name: last_part
SUBSTRING_INDEX($1, '/', -1)

-- name: no_bytes
CAST(NULL AS BINARY)

-- name: second
-- DATETIME without a fraction in the session's time zone, as a TIMESTAMP column would show it.
FROM_UNIXTIME($1 DIV 1000000)

-- name: now
-- In microseconds, to the second.
UNIX_TIMESTAMP() * 1000000

-- name: digits
-- A number as text, without a point where it is whole.
CAST($1 AS CHAR)

-- name: joined
CONCAT($1, ': ', $2)

-- name: desc
`desc`

-- name: object
-- A JSON object of names and values, as text.
JSON_OBJECT($1)

-- name: nested
-- JSON that is kept as text, as a value in an object.
JSON_EXTRACT($1, '$')
