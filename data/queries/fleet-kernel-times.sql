-- Several ranks: how long does each kernel run on a rank, for comparing two runs?
SELECT name, round(sum(duration_ns) / 1e6 / (SELECT count(*) FROM run), 4) AS ms_per_rank, count(*) / (SELECT count(*) FROM run) AS calls_per_rank,
       round(median(duration_ns) / 1e3, 2) AS median_us
FROM kernels GROUP BY name ORDER BY ms_per_rank DESC, name
