-- Why are the GPUs idle, and for how long?
SELECT device, cause, count(*) AS parts, sum(duration_ns) / 1e6 AS idle_ms, max(duration_ns) / 1e3 AS longest_us,
       100.0 * sum(duration_ns) / (SELECT avg(wall_ns) FROM run) AS percent_of_wall
FROM gaps GROUP BY device, cause ORDER BY device, sum(duration_ns) DESC, cause
