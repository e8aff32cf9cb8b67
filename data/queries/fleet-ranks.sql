-- Several ranks: which rank is slow by its own work, not by waiting for others?
-- GPU idle time while the host is in a collective (gloo) is communication too, so that the three add up to the wall time.
-- Ranks are compared by step where all have steps: a trace that is cut off has fewer.
WITH waits AS (SELECT part, sum(coalesce(host_communication_ns, CASE WHEN cause = 'communication' THEN duration_ns ELSE 0 END)) / count(DISTINCT device) AS ns FROM gaps GROUP BY part),
     counts AS (SELECT part, count(DISTINCT step) AS steps FROM steps GROUP BY part),
     split AS (SELECT run.part, run.rank, run.host, run.wall_ns, counts.steps, run.busy_ns - run.exposed_communication_ns AS compute_ns,
                      run.exposed_communication_ns + coalesce(waits.ns, 0) AS communication_ns, run.idle_ns - coalesce(waits.ns, 0) AS idle_ns
               FROM run LEFT JOIN waits ON waits.part = run.part LEFT JOIN counts ON counts.part = run.part),
     own AS (SELECT *, compute_ns + idle_ns AS own_ns, (SELECT bool_and(time_base = 'steps') FROM run) AS by_step FROM split),
     each AS (SELECT *, own_ns / CASE WHEN by_step THEN nullif(steps, 0) ELSE 1 END AS each_ns FROM own)
SELECT part, rank, host, CASE WHEN by_step THEN steps END AS steps, round(wall_ns / 1e6, 3) AS wall_ms, round(compute_ns / 1e6, 3) AS compute_ms,
       round(communication_ns / 1e6, 3) AS communication_ms, round(idle_ns / 1e6, 3) AS idle_ms, round(own_ns / 1e6, 3) AS own_ms,
       round(100.0 * (each_ns / nullif(median(each_ns) OVER (), 0) - 1), 2) AS over_median_percent
FROM each ORDER BY over_median_percent DESC NULLS LAST, own_ms DESC, part
