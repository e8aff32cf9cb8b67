-- Several ranks: which kernels take longer on some rank than on the others (clocks, throttling, other shapes)?
WITH each AS (SELECT name, part, count(*) AS calls, avg(duration_ns) AS mean_ns, sum(duration_ns) AS sum_ns
              FROM kernels WHERE NOT is_communication GROUP BY name, part),
     spread AS (SELECT name, count(*) AS ranks, median(mean_ns) AS median_ns, min(mean_ns) AS least_ns, quantile_cont(mean_ns, 0.9) AS most_of_ten_ns, max(mean_ns) AS most_ns,
                       arg_max(part, mean_ns) AS slowest,
                       arg_max(calls, mean_ns) AS calls, max(calls) - min(calls) AS calls_apart FROM each GROUP BY name)
SELECT name, ranks, round(least_ns / 1e3, 2) AS fastest_us, round(median_ns / 1e3, 2) AS median_us, round(most_of_ten_ns / 1e3, 2) AS p90_us, round(most_ns / 1e3, 2) AS slowest_us, slowest,
       round(100.0 * (most_ns / median_ns - 1), 1) AS over_median_percent, round(calls * (most_ns - median_ns) / 1e6, 3) AS excess_ms, calls_apart
FROM spread WHERE ranks >= 2 AND median_ns > 0 ORDER BY excess_ms DESC, name LIMIT 20
