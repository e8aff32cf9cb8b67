-- Which calls of the host are behind the idle time?
SELECT cause, coalesce(blamed, '(nothing recorded)') AS blamed, count(*) AS parts, sum(duration_ns) / 1e6 AS idle_ms
FROM gaps GROUP BY ALL ORDER BY idle_ms DESC, blamed LIMIT 20
