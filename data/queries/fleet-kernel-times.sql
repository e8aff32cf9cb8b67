-- Several ranks: how long does each kernel run on a rank, for comparing two runs?
WITH ranks AS (SELECT count(*) AS n, bool_and(time_base = 'steps') AS by_step FROM run),
     all_steps AS (SELECT count(*) AS n FROM (SELECT DISTINCT part, step FROM steps))
SELECT name, round(sum(duration_ns) / 1e6 / (SELECT n FROM ranks), 4) AS ms_per_rank,
       CASE WHEN (SELECT by_step FROM ranks)
            THEN round(coalesce(sum(duration_ns) FILTER (WHERE step IS NOT NULL), 0) / 1e6 / (SELECT n FROM all_steps), 6) END AS ms_per_step,
       count(*) / (SELECT n FROM ranks) AS calls_per_rank, round(median(duration_ns) / 1e3, 2) AS median_us
FROM kernels GROUP BY name ORDER BY ms_per_rank DESC, name
