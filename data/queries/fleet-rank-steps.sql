-- Several ranks: how much more own work than the median rank have the slowest ranks, step by step?
WITH compute AS (SELECT part, step, sum(duration_ns) AS ns FROM kernels WHERE NOT is_communication GROUP BY part, step),
     -- GPU idle time while the host is in a collective (gloo) is communication too
     waits AS (SELECT part, step, sum(coalesce(host_communication_ns, CASE WHEN cause = 'communication' THEN duration_ns ELSE 0 END)) AS ns FROM gaps GROUP BY part, step),
     own AS (SELECT s.part, coalesce(s.number, s.step) AS step, sum(s.idle_ns) + coalesce(max(c.ns), 0) - coalesce(max(w.ns), 0) AS ns
             FROM steps s LEFT JOIN compute c ON c.part = s.part AND c.step = s.step LEFT JOIN waits w ON w.part = s.part AND w.step = s.step
             GROUP BY ALL),
     usual AS (SELECT *, median(ns) OVER (PARTITION BY step) AS usual_ns FROM own),
     slowest AS (SELECT part, sum(ns - usual_ns) AS excess FROM usual GROUP BY part ORDER BY excess DESC, part LIMIT 24)
SELECT part, step, round(ns / 1e6, 3) AS own_ms, round(100.0 * (ns / nullif(usual_ns, 0) - 1), 2) AS over_median_percent
FROM usual JOIN slowest USING (part) ORDER BY excess DESC, part, step
