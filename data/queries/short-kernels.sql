-- How much of the GPU work is short kernels?
SELECT CASE WHEN duration_ns < 5000 THEN 'under 5 us' WHEN duration_ns < 10000 THEN '5 to 10 us'
            WHEN duration_ns < 50000 THEN '10 to 50 us' WHEN duration_ns < 500000 THEN '50 to 500 us'
            ELSE 'over 500 us' END AS length,
       count(*) AS kernels, sum(duration_ns) / 1e6 AS total_ms
FROM kernels WHERE kind = 'kernel' GROUP BY ALL ORDER BY min(duration_ns)
