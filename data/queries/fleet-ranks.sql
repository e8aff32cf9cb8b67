-- Several ranks: which rank is slow by its own work, not by waiting for others?
-- GPU idle time while the host is in a collective (gloo) is communication too, so that the three add up to the wall time.
WITH waits AS (SELECT part, coalesce(sum(duration_ns) FILTER (WHERE cause = 'communication'), 0) / count(DISTINCT device) AS ns FROM gaps GROUP BY part),
     split AS (SELECT run.part, run.rank, run.host, run.wall_ns, run.busy_ns - run.exposed_communication_ns AS compute_ns,
                      run.exposed_communication_ns + coalesce(waits.ns, 0) AS communication_ns, run.idle_ns - coalesce(waits.ns, 0) AS idle_ns
               FROM run LEFT JOIN waits ON waits.part = run.part),
     own AS (SELECT *, compute_ns + idle_ns AS own_ns FROM split)
SELECT part, rank, host, round(wall_ns / 1e6, 3) AS wall_ms, round(compute_ns / 1e6, 3) AS compute_ms,
       round(communication_ns / 1e6, 3) AS communication_ms, round(idle_ns / 1e6, 3) AS idle_ms, round(own_ns / 1e6, 3) AS own_ms,
       round(100.0 * (own_ns / nullif(median(own_ns) OVER (), 0) - 1), 2) AS over_median_percent
FROM own ORDER BY own_ms DESC, part
