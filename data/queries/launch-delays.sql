-- How long does work wait between its launch and its start?
SELECT l.name, count(*) AS launches, quantile_cont(delay_ns, 0.5) / 1e3 AS median_us,
       quantile_cont(delay_ns, 0.95) / 1e3 AS p95_us, max(delay_ns) / 1e3 AS max_us
FROM launches l GROUP BY l.name ORDER BY launches DESC, l.name
