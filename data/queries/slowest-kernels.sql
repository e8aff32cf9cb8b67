-- Which kernels take the most GPU time?
SELECT name, count(*) AS runs, sum(duration_ns) / 1e6 AS total_ms,
       avg(duration_ns) / 1e3 AS mean_us, min(duration_ns) / 1e3 AS min_us, max(duration_ns) / 1e3 AS max_us,
       100.0 * sum(duration_ns) / sum(sum(duration_ns)) OVER () AS percent
FROM kernels GROUP BY name ORDER BY sum(duration_ns) DESC, name LIMIT 20
