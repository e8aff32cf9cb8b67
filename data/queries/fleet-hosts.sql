-- Several ranks: which host is slow by the own work of its ranks?
-- GPU idle time while the host is in a collective (gloo) is communication too. By step, where all ranks have steps.
WITH waits AS (SELECT part, sum(coalesce(host_communication_ns, CASE WHEN cause = 'communication' THEN duration_ns ELSE 0 END)) / count(DISTINCT device) AS ns FROM gaps GROUP BY part),
     counts AS (SELECT part, count(DISTINCT step) AS steps FROM steps GROUP BY part),
     own AS (SELECT run.host, run.part, (run.wall_ns - run.exposed_communication_ns - coalesce(waits.ns, 0))
                      / CASE WHEN (SELECT bool_and(time_base = 'steps') FROM run) THEN nullif(counts.steps, 0) ELSE 1 END AS own_ns
             FROM run LEFT JOIN waits ON waits.part = run.part LEFT JOIN counts ON counts.part = run.part),
     placed AS (SELECT *, median(own_ns) OVER () AS usual_ns FROM own)
SELECT host, count(*) AS ranks, round(median(own_ns) / 1e6, 3) AS median_own_ms,
       round(100.0 * (median(own_ns) / nullif(max(usual_ns), 0) - 1), 2) AS over_median_percent, arg_max(part, own_ns) AS slowest
FROM placed WHERE host IS NOT NULL GROUP BY host ORDER BY median_own_ms DESC, host
