-- Several ranks: which rank is slow by its own work, not by waiting for others?
WITH work AS (SELECT part, coalesce(sum(duration_ns) FILTER (WHERE NOT is_communication), 0) AS compute_ns,
                     coalesce(sum(duration_ns) FILTER (WHERE is_communication), 0) AS communication_ns FROM kernels GROUP BY part),
     own AS (SELECT run.part, run.rank, run.wall_ns, run.idle_ns, coalesce(compute_ns, 0) AS compute_ns,
                    coalesce(communication_ns, 0) AS communication_ns, coalesce(compute_ns, 0) + run.idle_ns AS own_ns
             FROM run LEFT JOIN work ON work.part = run.part)
SELECT part, rank, round(wall_ns / 1e6, 3) AS wall_ms, round(compute_ns / 1e6, 3) AS compute_ms,
       round(communication_ns / 1e6, 3) AS communication_ms, round(idle_ns / 1e6, 3) AS idle_ms, round(own_ns / 1e6, 3) AS own_ms,
       round(100.0 * (own_ns / nullif(median(own_ns) OVER (), 0) - 1), 2) AS over_median_percent
FROM own ORDER BY own_ms DESC, part
