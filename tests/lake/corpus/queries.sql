-- The SQL that both engines are held to. Every query orders its rows, or has one. Tables: tests/lake/corpus/tables.py.

-- topic: select and filter

-- name: every_column_of_a_table
SELECT * FROM orders ORDER BY id

-- name: columns_and_expressions_with_names
SELECT id, weight * 2 AS double_weight, id % 3 AS rest, -id AS negative, status FROM orders ORDER BY id

-- name: comparisons_and_logic
SELECT id FROM orders WHERE (weight >= 1.5 AND status <> 'void') OR NOT paid ORDER BY id

-- name: between_and_in
SELECT id FROM orders WHERE id BETWEEN 2 AND 7 AND status IN ('open', 'done') ORDER BY id

-- name: like_and_escapes
SELECT id, note FROM orders WHERE note LIKE '%50\\%%' OR note LIKE 'r_sh' OR note ILIKE 'FRAGILE%' ORDER BY id

-- name: distinct_values
SELECT DISTINCT status, paid FROM orders ORDER BY status, paid

-- name: limit_and_offset
SELECT id FROM orders ORDER BY id DESC LIMIT 3 OFFSET 2

-- name: rows_without_a_table
SELECT * FROM VALUES (1, 'a'), (2, 'b'), (3, NULL) AS t(n, letter) ORDER BY n

-- name: a_range_of_numbers
SELECT id * id AS square FROM range(5) ORDER BY square

-- name: literals_and_their_types
SELECT 1 AS i, 3000000000 AS l, 1.5 AS d, 1.5D AS f, 2L AS long, 3S AS short, 'x' AS s, TRUE AS b, X'1F' AS bin, NULL AS nothing

-- topic: nulls and order

-- name: nulls_come_first_by_default
SELECT id, note FROM orders ORDER BY note, id

-- name: nulls_last_and_descending
SELECT id, note FROM orders ORDER BY note DESC NULLS LAST, id

-- name: three_valued_logic
SELECT id, note = 'rush' AS equal, note <=> NULL AS same, note IS NULL AS missing, NOT (note = 'rush') AS other FROM orders ORDER BY id

-- name: coalesce_nullif_and_nvl
SELECT id, coalesce(note, status, 'none') AS c, nullif(status, 'open') AS n, nvl(note, '?') AS v, ifnull(note, '-') AS i FROM orders ORDER BY id

-- name: nvl_of_a_date
SELECT id, coalesce(shipped, DATE'1970-01-01') AS c, nvl(shipped, DATE'1970-01-01') AS n FROM orders ORDER BY id

-- name: counts_pass_over_nulls
SELECT count(*) AS rows, count(note) AS notes, count(DISTINCT status) AS statuses, sum(CAST(NULL AS INT)) AS nothing FROM orders

-- name: not_in_with_a_null_finds_nothing
SELECT id FROM orders WHERE note NOT IN (SELECT note FROM orders WHERE id < 4) ORDER BY id

-- topic: case and conditions

-- name: case_with_conditions
SELECT id, CASE WHEN weight < 1 THEN 'light' WHEN weight < 10 THEN 'medium' ELSE 'heavy' END AS class FROM orders ORDER BY id

-- name: case_of_a_value_without_else
SELECT id, CASE status WHEN 'open' THEN 1 WHEN 'done' THEN 2 END AS code FROM orders ORDER BY id

-- name: if_greatest_and_least
SELECT id, if(paid, 'yes', 'no') AS paid, greatest(id, 5, CAST(weight AS INT)) AS most, least(id, 5) AS fewest FROM orders ORDER BY id

-- topic: numbers and decimals

-- name: sums_of_decimals_keep_their_scale
SELECT sum(amount) AS total, avg(amount) AS mean, min(amount) AS least, max(amount) AS most FROM orders

-- name: arithmetic_of_decimals
SELECT id, amount * 1.19 AS gross, amount + amount AS twice, amount - 0.005 AS less FROM orders ORDER BY id

-- name: division_of_decimals
SELECT id, amount / 3 AS third, amount / 4 AS quarter FROM orders ORDER BY id

-- name: integers_divide_to_fractions
SELECT 7 / 2 AS fraction, 7 DIV 2 AS whole, 7 % 3 AS rest, -7 DIV 2 AS negative, -7 % 3 AS negative_rest, pmod(-7, 3) AS positive_rest

-- name: rounding
SELECT round(2.5) AS half, round(-2.5) AS minus_half, round(1.2345D, 2) AS places, ceil(1.2) AS up, floor(-1.2) AS down

-- name: rounding_to_even_and_to_tens
SELECT bround(2.5) AS even, bround(3.5D) AS even_double, round(123.456, -1) AS tens

-- name: functions_of_numbers
SELECT abs(-3) AS a, sqrt(16D) AS s, power(2, 10) AS p, exp(0D) AS e, ln(1D) AS l, sign(-2D) AS g, log10(1000D) AS t, hex(255) AS h, bin(5) AS b

-- name: division_by_zero_is_refused
SELECT id / (id - 1) AS q FROM orders ORDER BY id

-- name: try_division_gives_null
SELECT id, try_divide(id, id - 1) AS q FROM orders ORDER BY id

-- name: an_integer_that_overflows_is_refused
SELECT 2147483647 + CAST(id AS INT) AS n FROM orders WHERE id = 1

-- name: a_sum_that_overflows_is_refused
SELECT sum(n) AS total FROM VALUES (9223372036854775807), (1) AS t(n)

-- name: not_a_number_and_infinity
SELECT CAST('NaN' AS DOUBLE) = CAST('NaN' AS DOUBLE) AS same, CAST('Infinity' AS DOUBLE) AS inf, isnan(CAST('NaN' AS DOUBLE)) AS nan

-- topic: casts

-- name: casts_between_types
SELECT CAST('42' AS INT) AS i, CAST(42 AS STRING) AS s, CAST('3.14' AS DOUBLE) AS d, CAST('1.005' AS DECIMAL(5,2)) AS c, CAST(1 AS BOOLEAN) AS b, CAST('true' AS BOOLEAN) AS t, CAST(3.9D AS INT) AS cut

-- name: casts_of_dates_and_times
SELECT CAST('2024-02-29' AS DATE) AS d, CAST('2024-02-29 12:30:00' AS TIMESTAMP) AS t, CAST(DATE'2024-02-29' AS STRING) AS s, CAST(TIMESTAMP'2024-02-29 12:30:00.5' AS STRING) AS ts, CAST(TIMESTAMP'2024-02-29 23:30:00' AS DATE) AS day

-- name: a_text_that_is_no_number_is_refused
SELECT CAST(note AS INT) AS n FROM orders ORDER BY id

-- name: text_compared_with_numbers
SELECT id FROM orders WHERE id = '3' OR weight > '6.5' ORDER BY id

-- name: text_in_arithmetic
SELECT '5' + 1 AS n

-- name: try_cast_gives_null
SELECT try_cast('abc' AS INT) AS n, try_cast('12' AS INT) AS m, try_cast('2024-13-01' AS DATE) AS d

-- name: numbers_as_text
SELECT CAST(1.0D AS STRING) AS one, CAST(0.1D AS STRING) AS tenth, CAST(CAST(1.50 AS DECIMAL(5,2)) AS STRING) AS money, CAST(TRUE AS STRING) AS yes

-- name: very_large_numbers_as_text
SELECT CAST(1e20D AS STRING) AS big, CAST(1e-10D AS STRING) AS small

-- topic: text

-- name: functions_of_text
SELECT id, upper(status) AS u, lower(upper(status)) AS l, length(status) AS n, trim('  x ') AS t, concat(status, '-', CAST(id AS STRING)) AS c, status || '!' AS shout, reverse(status) AS r, initcap('the lake face') AS i FROM orders ORDER BY id

-- name: parts_of_text
SELECT substring('waterclock', 6) AS tail, substring('waterclock', -5, 3) AS near_the_end, left('water', 2) AS l, right('water', 2) AS r, split('a,b,,c', ',') AS parts, split_part('a.b.c', '.', 2) AS second, instr('clock', 'o') AS at, locate('c', 'clock', 2) AS next

-- name: padding_and_replacing
SELECT lpad('7', 3, '0') AS l, rpad('7', 3, '.') AS r, replace('a-b-c', '-', '+') AS p, translate('abc', 'ac', 'xz') AS t, repeat('ab', 2) AS twice, concat_ws('/', 'a', NULL, 'b') AS joined, format_string('%s has %d', 'x', 3) AS said

-- name: text_of_any_language
SELECT length('물시계 ⏳') AS n, upper('straße') AS u, reverse('đồng hồ') AS r, octet_length('물') AS bytes, substring('물시계', 2, 1) AS one, ascii('A') AS a, char(66) AS b

-- name: hashes_and_encodings
SELECT md5('lake') AS m, sha2('lake', 256) AS s, crc32('lake') AS c, base64(CAST('lake' AS BINARY)) AS b, hex('lake') AS h, CAST(unhex('6C616B65') AS STRING) AS u

-- topic: regular expressions

-- name: rlike_finds_and_filters
SELECT id, note FROM orders WHERE note RLIKE '^[a-z]+$' ORDER BY id

-- name: regexp_extract_and_replace
SELECT id, regexp_extract(status, '(o)(.)', 2) AS after_o, regexp_replace(status, '[aeiou]', '_') AS without, regexp_extract('2024-02-29', '(\\d+)-(\\d+)', 1) AS year FROM orders ORDER BY id

-- name: regexp_count
SELECT regexp_count('a1b22c333', '\\d+') AS n

-- name: regexp_like_and_instr
SELECT regexp_like('Lake', '(?i)^lake$') AS alike, regexp_instr('abc123', '[0-9]') AS at

-- topic: aggregates

-- name: groups_with_having
SELECT status, count(*) AS n, sum(weight) AS weight, min(placed_at) AS first, max(shipped) AS last FROM orders GROUP BY status HAVING count(*) > 1 ORDER BY status

-- name: groups_by_position_and_expression
SELECT id % 2 AS odd, count(*) AS n FROM orders GROUP BY 1 ORDER BY 1

-- name: aggregates_with_a_filter
SELECT count(*) FILTER (WHERE paid) AS paid, sum(weight) FILTER (WHERE status = 'open') AS open_weight, count_if(note IS NULL) AS without_note FROM orders

-- name: statistics
SELECT avg(value) AS mean, stddev_pop(value) AS deviation, var_samp(value) AS variance, min(value) AS least, max(value) AS most FROM numbers

-- name: medians_and_percentiles
SELECT median(value) AS middle, percentile(value, 0.25) AS quarter, percentile(value, array(0.5, 0.9)) AS both FROM numbers

-- name: rollup_and_grouping
SELECT status, paid, count(*) AS n, grouping(status) AS g FROM orders GROUP BY ROLLUP (status, paid) ORDER BY g, status, paid, n

-- name: cube
SELECT status, paid, count(*) AS n FROM orders GROUP BY CUBE (status, paid) ORDER BY status, paid, n

-- name: grouping_sets
SELECT status, paid, sum(weight) AS w FROM orders GROUP BY GROUPING SETS ((status), (paid), ()) ORDER BY status, paid, w

-- name: collected_values
SELECT status, sort_array(collect_list(id)) AS ids, sort_array(collect_set(paid)) AS paids FROM orders GROUP BY status ORDER BY status

-- name: an_aggregate_of_no_rows
SELECT count(*) AS n, sum(weight) AS s, max(id) AS m FROM orders WHERE id > 1000

-- name: min_by_max_by_and_any_value
SELECT max_by(id, weight) AS heaviest, min_by(id, weight) AS lightest, bool_and(id > 0) AS all_positive, bool_or(paid) AS any_paid FROM orders

-- topic: joins

-- name: inner_join
SELECT o.id, c.name FROM orders o JOIN customers c ON o.customer_id = c.id ORDER BY o.id

-- name: left_join_keeps_the_left
SELECT o.id, c.name FROM orders o LEFT JOIN customers c ON o.customer_id = c.id AND c.country = 'KR' ORDER BY o.id

-- name: full_join_keeps_both
SELECT o.id AS order_id, c.id AS customer_id FROM orders o FULL OUTER JOIN customers c ON o.customer_id = c.id ORDER BY order_id, customer_id

-- name: join_using_and_right
SELECT customer_id, o.id, c.name FROM orders o RIGHT JOIN (SELECT id AS customer_id, name FROM customers) c USING (customer_id) ORDER BY customer_id, o.id

-- name: cross_join
SELECT a.id AS a, b.id AS b FROM range(2) a CROSS JOIN range(3) b ORDER BY a, b

-- name: semi_and_anti_join
SELECT 'with' AS kind, id FROM customers c LEFT SEMI JOIN orders o ON o.customer_id = c.id UNION ALL SELECT 'without', id FROM customers c LEFT ANTI JOIN orders o ON o.customer_id = c.id ORDER BY kind, id

-- name: join_on_a_range
SELECT o.id, n.id AS number FROM orders o JOIN numbers n ON n.id > o.id * 2 AND n.id <= o.id * 2 + 2 WHERE o.id < 4 ORDER BY o.id, number

-- name: nulls_never_join_but_may_with_the_null_safe_operator
SELECT a.id AS a, b.id AS b FROM orders a JOIN orders b ON a.note <=> b.note AND a.id < b.id ORDER BY a, b

-- topic: subqueries and common table expressions

-- name: scalar_subquery
SELECT id, weight - (SELECT avg(weight) FROM orders) AS beyond FROM orders ORDER BY id

-- name: correlated_exists
SELECT name FROM customers c WHERE EXISTS (SELECT 1 FROM orders o WHERE o.customer_id = c.id AND o.status = 'open') ORDER BY name

-- name: correlated_scalar_subquery
SELECT c.id, (SELECT max(o.weight) FROM orders o WHERE o.customer_id = c.id) AS heaviest FROM customers c ORDER BY c.id

-- name: common_table_expressions
WITH paid AS (SELECT * FROM orders WHERE paid), by_customer AS (SELECT customer_id, count(*) AS n FROM paid GROUP BY customer_id) SELECT c.name, b.n FROM by_customer b JOIN customers c ON c.id = b.customer_id ORDER BY c.name

-- name: lateral_subquery
SELECT c.id, o.heaviest FROM customers c, LATERAL (SELECT max(weight) AS heaviest FROM orders o WHERE o.customer_id = c.id) o ORDER BY c.id

-- topic: set operations

-- name: union_and_union_all
SELECT n, count(*) AS times FROM (SELECT id % 3 AS n FROM orders UNION ALL (SELECT id % 3 FROM orders UNION SELECT 1)) GROUP BY n ORDER BY n

-- name: intersect_and_except
SELECT 'both' AS kind, id FROM (SELECT id FROM orders INTERSECT SELECT id FROM customers) UNION ALL SELECT 'only', id FROM (SELECT id FROM orders EXCEPT SELECT id FROM customers) ORDER BY kind, id

-- name: a_union_finds_a_common_type
SELECT n FROM (SELECT 1 AS n UNION ALL SELECT 2.5D UNION ALL SELECT CAST(3 AS BIGINT)) ORDER BY n

-- topic: windows

-- name: ranks
SELECT id, row_number() OVER (PARTITION BY status ORDER BY weight, id) AS number, rank() OVER (ORDER BY status) AS rank, dense_rank() OVER (ORDER BY status) AS dense, ntile(3) OVER (ORDER BY id) AS third FROM orders ORDER BY id

-- name: running_totals
SELECT id, sum(amount) OVER (PARTITION BY status ORDER BY id) AS total, avg(weight) OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING) AS smooth FROM orders ORDER BY id

-- name: lag_lead_and_first_value
SELECT id, lag(weight) OVER (ORDER BY id) AS before, lead(id, 2, -1) OVER (ORDER BY id) AS ahead, first_value(note) OVER (PARTITION BY status ORDER BY id) AS first, last_value(id) OVER (PARTITION BY status ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS last FROM orders ORDER BY id

-- name: range_frames
SELECT id, count(*) OVER (ORDER BY id RANGE BETWEEN 2 PRECEDING AND CURRENT ROW) AS near, percent_rank() OVER (ORDER BY weight) AS rank, cume_dist() OVER (ORDER BY weight) AS share FROM orders ORDER BY id

-- name: named_window_and_qualified_rows
SELECT status, id FROM (SELECT status, id, row_number() OVER w AS n FROM orders WINDOW w AS (PARTITION BY status ORDER BY id DESC)) WHERE n = 1 ORDER BY status

-- topic: dates and times

-- name: parts_of_dates
SELECT id, year(shipped) AS y, month(shipped) AS m, day(shipped) AS d, dayofweek(shipped) AS w, quarter(shipped) AS q, weekofyear(shipped) AS week, extract(DAY FROM shipped) AS e FROM orders ORDER BY id

-- name: arithmetic_of_dates
SELECT date_add(DATE'2024-02-28', 2) AS later, date_sub(DATE'2024-03-01', 1) AS earlier, add_months(DATE'2024-01-31', 1) AS month, last_day(DATE'2024-02-10') AS last, next_day(DATE'2024-02-10', 'MON') AS monday

-- name: days_between_dates
SELECT datediff(DATE'2024-03-01', DATE'2024-02-01') AS days

-- name: a_date_less_another
SELECT DATE'2024-03-01' - DATE'2024-02-01' AS between

-- name: months_between_dates
SELECT months_between(DATE'2024-03-31', DATE'2024-02-29') AS whole, months_between(TIMESTAMP'2024-03-15 12:00:00', TIMESTAMP'2024-02-01 00:00:00') AS part

-- name: intervals
SELECT TIMESTAMP'2024-02-28 23:00:00' + INTERVAL 2 HOURS AS later, DATE'2024-01-31' + INTERVAL 1 MONTH AS next_month, TIMESTAMP'2024-01-01 00:00:00' - INTERVAL '1' DAY AS before

-- name: an_interval_named_as_its_unit
SELECT DATE'2024-01-31' + INTERVAL 1 MONTH AS month

-- name: truncated_times
SELECT date_trunc('hour', TIMESTAMP'2024-02-29 12:34:56') AS hour, date_trunc('WEEK', TIMESTAMP'2024-02-29 12:34:56') AS week, trunc(DATE'2024-02-29', 'MM') AS month, trunc(DATE'2024-02-29', 'YEAR') AS year

-- name: formatted_times
SELECT id, date_format(placed_at, 'yyyy-MM-dd HH:mm:ss') AS plain, date_format(placed_at, 'EEE d MMM') AS words FROM orders ORDER BY id

-- name: parsed_times
SELECT to_date('29.02.2024', 'dd.MM.yyyy') AS d, to_timestamp('2024-02-29T12:30:00', "yyyy-MM-dd'T'HH:mm:ss") AS t, unix_timestamp('2024-02-29 00:00:00') AS u, from_unixtime(0) AS epoch, timestamp_millis(1500) AS ms

-- name: time_zones
SELECT from_utc_timestamp(TIMESTAMP'2024-07-01 12:00:00', 'Asia/Seoul') AS seoul, to_utc_timestamp(TIMESTAMP'2024-07-01 12:00:00', 'America/New_York') AS utc, from_utc_timestamp(TIMESTAMP'2024-03-31 00:59:59', 'Europe/Berlin') AS before_the_jump, from_utc_timestamp(TIMESTAMP'2024-03-31 01:00:00', 'Europe/Berlin') AS after_the_jump

-- name: times_without_a_zone
SELECT TIMESTAMP_NTZ'2024-02-29 12:30:00' AS local, CAST(TIMESTAMP_NTZ'2024-02-29 12:30:00' AS DATE) AS day, hour(TIMESTAMP'2024-02-29 12:30:00') AS hour

-- name: a_sequence_of_dates
SELECT explode(sequence(DATE'2024-01-30', DATE'2024-02-02', INTERVAL 1 DAY)) AS day ORDER BY day

-- topic: arrays, maps and structs

-- name: elements_of_arrays_maps_and_structs
SELECT id, tags[0] AS first, element_at(tags, -1) AS last, attributes['colour'] AS colour, address.city AS city, size(tags) AS n FROM orders WHERE size(tags) > 0 ORDER BY id

-- name: exploded_arrays
SELECT id, tag FROM orders LATERAL VIEW explode(tags) t AS tag ORDER BY id, tag

-- name: exploded_with_positions_and_empty_ones
SELECT id, place, tag FROM orders LATERAL VIEW OUTER posexplode(tags) t AS place, tag ORDER BY id, place

-- name: exploded_maps
SELECT id, key, value FROM (SELECT id, explode(attributes) FROM orders) ORDER BY id, key

-- name: functions_of_arrays
SELECT array_contains(array(1, 2), 2) AS has, array_distinct(array(1, 1, 2)) AS once, array_union(array(1), array(2)) AS both, array_position(array('a', 'b'), 'b') AS at, array_join(array('a', NULL, 'b'), '-') AS joined, slice(array(1, 2, 3, 4), 2, 2) AS part, flatten(array(array(1), array(2, 3))) AS flat, array_max(array(3, 9, 2)) AS most, sort_array(array(3, 1, 2), false) AS down

-- name: functions_with_lambdas
SELECT transform(array(1, 2, 3), x -> x * x) AS squares, filter(array(1, 2, 3), x -> x > 1) AS more, aggregate(array(1, 2, 3), 0, (a, x) -> a + x) AS total, exists(array(1, 2), x -> x = 2) AS some

-- name: maps_made_of_parts
SELECT map('a', 1, 'b', 2) AS m, map_keys(map('a', 1)) AS k, map_values(map('a', 1)) AS v, map_from_arrays(array('x', 'y'), array(1, 2)) AS f, map_contains_key(map('a', 1), 'a') AS has

-- name: structs_made_of_parts
SELECT id, named_struct('id', id, 'city', address.city) AS s, struct(id, status).status AS status FROM orders ORDER BY id

-- name: an_array_beyond_its_end_is_refused
SELECT array(1, 2)[5] AS n

-- name: get_beyond_the_end_gives_null
SELECT get(array(1, 2), 5) AS n, try_element_at(array(1, 2), 3) AS m, element_at(map('a', 1), 'b') AS k

-- topic: pivots

-- name: pivot
SELECT * FROM (SELECT customer_id, status, weight FROM orders) PIVOT (sum(weight) FOR (status) IN ('open' AS open, 'done' AS done)) ORDER BY customer_id

-- name: pivot_without_parentheses
SELECT * FROM (SELECT customer_id, status, weight FROM orders) PIVOT (sum(weight) FOR status IN ('open', 'done')) ORDER BY customer_id

-- name: unpivot
SELECT * FROM (SELECT id, weight, CAST(amount AS DOUBLE) AS amount FROM orders) UNPIVOT (number FOR what IN (weight, amount)) ORDER BY id, what

-- topic: JSON in text

-- name: fields_of_json_text
SELECT get_json_object('{"a": {"b": [1, 2]}}', '$.a.b[1]') AS b, get_json_object('{"a": 1}', '$.x') AS missing, to_json(named_struct('a', 1, 'b', 'x')) AS j

-- name: json_text_with_a_schema
SELECT from_json('{"a": 1, "b": ["x"]}', 'a INT, b ARRAY<STRING>') AS parsed

-- topic: files as tables

-- name: a_csv_file_with_a_header
SELECT name, credit, since, active FROM suppliers ORDER BY name

-- name: whole_numbers_in_a_csv_file
SELECT id, CAST(id AS INT) AS number FROM suppliers ORDER BY id

-- name: a_json_file_with_nested_fields
SELECT id, kind, detail.score AS score, detail.labels AS labels FROM events ORDER BY id

-- name: parquet_joined_with_csv_and_json
SELECT s.active, count(DISTINCT o.id) AS orders, max(e.detail.score) AS score FROM suppliers s LEFT JOIN orders o ON o.customer_id = s.id LEFT JOIN events e ON e.id = o.id GROUP BY s.active ORDER BY s.active

-- name: a_table_of_a_thousand_rows
SELECT id % 10 AS bucket, count(*) AS n, sum(value) AS total FROM numbers GROUP BY id % 10 ORDER BY bucket

-- topic: what is refused

-- name: a_query_that_does_not_parse
SELEC 1

-- name: a_table_that_is_missing
SELECT * FROM no_such_table

-- name: a_column_that_is_missing
SELECT no_such_column FROM orders

-- name: a_function_that_is_missing
SELECT no_such_function(1)

-- name: a_column_outside_its_group
SELECT status, id FROM orders GROUP BY status

-- topic: what both understand, where they differ above

-- name: a_quotient_cast_to_its_places
SELECT id, CAST(amount / 3 AS DECIMAL(10,2)) AS third FROM orders ORDER BY id

-- name: sums_that_cannot_overflow
SELECT CAST(2147483647 AS BIGINT) + 1 AS wide, try_add(2147483647, 1) AS or_null, sum(CAST(n AS DECIMAL(20,0))) AS total FROM VALUES (9223372036854775807), (1) AS t(n)

-- name: large_numbers_as_decimal_text
SELECT CAST(CAST(1e20D AS DECIMAL(30,0)) AS STRING) AS big

-- name: days_as_a_number
SELECT CAST(datediff(DATE'2024-03-01', DATE'2024-02-01') AS INT) AS days, CAST(regexp_count('a1b2', '\\d') AS INT) AS digits

-- name: a_unit_in_back_ticks
SELECT DATE'2024-01-31' + INTERVAL 1 MONTH AS `month`

-- name: text_cast_for_arithmetic
SELECT CAST('5' AS BIGINT) + 1 AS n
