-- Several ranks: which host is slow by the own work of its ranks?
WITH work AS (SELECT part, sum(duration_ns) AS compute_ns FROM kernels WHERE NOT is_communication GROUP BY part),
     -- GPU idle time while the host is in a collective (gloo) is communication too
     waits AS (SELECT part, sum(duration_ns) / greatest(count(DISTINCT device), 1) AS ns FROM gaps WHERE cause = 'communication' GROUP BY part),
     own AS (SELECT run.host, run.part, coalesce(compute_ns, 0) + run.idle_ns - coalesce(waits.ns, 0) AS own_ns
             FROM run LEFT JOIN work ON work.part = run.part LEFT JOIN waits ON waits.part = run.part),
     placed AS (SELECT *, median(own_ns) OVER () AS usual_ns FROM own)
SELECT host, count(*) AS ranks, round(median(own_ns) / 1e6, 3) AS median_own_ms,
       round(100.0 * (median(own_ns) / nullif(max(usual_ns), 0) - 1), 2) AS over_median_percent, arg_max(part, own_ns) AS slowest
FROM placed WHERE host IS NOT NULL GROUP BY host ORDER BY median_own_ms DESC, host
