-- Several ranks: from which step on does a rank take over 5 % more than the median rank, in four of five steps?
WITH compute AS (SELECT part, step, sum(duration_ns) AS ns FROM kernels WHERE NOT is_communication GROUP BY part, step),
     -- GPU idle time while the host is in a collective (gloo) is communication too
     waits AS (SELECT part, step, sum(coalesce(host_communication_ns, CASE WHEN cause = 'communication' THEN duration_ns ELSE 0 END)) AS ns FROM gaps GROUP BY part, step),
     own AS (SELECT s.part, coalesce(s.number, s.step) AS step, sum(s.idle_ns) + coalesce(max(c.ns), 0) - coalesce(max(w.ns), 0) AS ns
             FROM steps s LEFT JOIN compute c ON c.part = s.part AND c.step = s.step LEFT JOIN waits w ON w.part = s.part AND w.step = s.step
             GROUP BY ALL),
     usual AS (SELECT *, median(ns) OVER (PARTITION BY step) AS usual_ns, count(*) OVER (PARTITION BY step) AS ranks FROM own),
     slow AS (SELECT *, ns > 1.05 * usual_ns AS is_slow FROM usual WHERE ranks >= 3 AND usual_ns > 0),
     lasting AS (SELECT *, avg(is_slow::INTEGER) OVER (PARTITION BY part ORDER BY step DESC ROWS UNBOUNDED PRECEDING) AS lasts FROM slow),
     first AS (SELECT part, min(step) AS since_step FROM lasting WHERE is_slow AND lasts >= 0.8 GROUP BY part)
SELECT first.part, since_step, count(*) AS steps, (SELECT min(step) FROM own) AS first_step, (SELECT max(step) FROM own) AS last_step, round(avg(ns - usual_ns) / 1e6, 3) AS mean_excess_ms,
       round(100.0 * avg(ns / usual_ns - 1), 2) AS mean_excess_percent
FROM first JOIN slow ON slow.part = first.part AND slow.step >= since_step
GROUP BY first.part, since_step ORDER BY mean_excess_ms DESC, first.part LIMIT 20
