-- Several ranks: which rank is slow by its own work, not by waiting for others?
WITH work AS (SELECT part, coalesce(sum(duration_ns) FILTER (WHERE NOT is_communication), 0) AS compute_ns,
                     coalesce(sum(duration_ns) FILTER (WHERE is_communication), 0) AS communication_ns FROM kernels GROUP BY part),
     -- GPU idle time while the host is in a collective (gloo) is communication too
     waits AS (SELECT part, sum(duration_ns) / greatest(count(DISTINCT device), 1) AS ns FROM gaps WHERE cause = 'communication' GROUP BY part),
     split AS (SELECT run.part, run.rank, run.host, run.wall_ns, run.idle_ns - coalesce(waits.ns, 0) AS idle_ns, coalesce(compute_ns, 0) AS compute_ns,
                      coalesce(communication_ns, 0) + coalesce(waits.ns, 0) AS communication_ns
               FROM run LEFT JOIN work ON work.part = run.part LEFT JOIN waits ON waits.part = run.part),
     own AS (SELECT *, compute_ns + idle_ns AS own_ns FROM split)
SELECT part, rank, host, round(wall_ns / 1e6, 3) AS wall_ms, round(compute_ns / 1e6, 3) AS compute_ms,
       round(communication_ns / 1e6, 3) AS communication_ms, round(idle_ns / 1e6, 3) AS idle_ms, round(own_ns / 1e6, 3) AS own_ms,
       round(100.0 * (own_ns / nullif(median(own_ns) OVER (), 0) - 1), 2) AS over_median_percent
FROM own ORDER BY own_ms DESC, part
