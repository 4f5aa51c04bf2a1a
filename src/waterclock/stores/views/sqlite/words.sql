-- What the views need and SQLite says in its own way.

-- name: member
-- The text of a JSON member, NULL where it is missing; true is '1'.
CAST(json_extract($1, '$.$2') AS TEXT)

-- name: whole
CAST($1 AS INTEGER)

-- name: flag
COALESCE($1, 0)

-- name: moment
-- ISO 8601, UTC, to the microsecond.
strftime('%Y-%m-%dT%H:%M:%S', $1 / 1000000, 'unixepoch') || printf('.%06dZ', $1 % 1000000)

-- name: milliseconds
($1) / 1000

-- name: last_part
-- What follows the last slash: trim everything but slashes from the right, and take the rest.
substr($1, length(rtrim($1, replace($1, '/', ''))) + 1)

-- name: no_bytes
NULL

-- name: second
-- ISO 8601, UTC, in whole seconds.
strftime('%Y-%m-%dT%H:%M:%SZ', $1 / 1000000, 'unixepoch')

-- name: now
-- In microseconds, to the second.
CAST(strftime('%s', 'now') AS INTEGER) * 1000000

-- name: digits
-- A number as text, without a point where it is whole.
CASE $1 WHEN CAST($1 AS INTEGER) THEN CAST(CAST($1 AS INTEGER) AS TEXT) ELSE CAST($1 AS TEXT) END

-- name: joined
$1 || ': ' || $2

-- name: desc
"desc"

-- name: object
-- A JSON object of names and values, as text.
json_object($1)

-- name: nested
-- JSON that is kept as text, as a value in an object.
json($1)
