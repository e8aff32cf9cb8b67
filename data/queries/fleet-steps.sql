-- Several ranks: which steps were the best and the worst, and on which rank?
WITH each AS (SELECT coalesce(number, step) AS step, part, max(duration_ns) AS ns FROM steps GROUP BY ALL),
     all_steps AS (SELECT step, count(*) AS ranks, max(ns) AS most_ns, min(ns) AS least_ns, arg_max(part, ns) AS slowest FROM each GROUP BY step),
     placed AS (SELECT *, row_number() OVER (ORDER BY most_ns, step) AS best, row_number() OVER (ORDER BY most_ns DESC, step) AS worst FROM all_steps)
SELECT step, ranks, round(most_ns / 1e6, 3) AS slowest_rank_ms, round(least_ns / 1e6, 3) AS fastest_rank_ms, slowest, best AS place
FROM placed WHERE best <= 5 OR worst <= 5 ORDER BY place
