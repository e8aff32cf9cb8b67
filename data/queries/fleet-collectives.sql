-- Several ranks: which collectives cost the most, how much of it is waiting, and for whom?
-- The n-th of its kind on each rank; where ranks have different numbers of them, the n-th of the step.
WITH begins AS (SELECT DISTINCT part, start_ns, coalesce(number, step) AS step FROM steps),
     placed AS (SELECT c.*, b.step FROM collectives c ASOF LEFT JOIN begins b ON c.part = b.part AND c.start_ns >= b.start_ns),
     counted AS (SELECT *, count(*) OVER (PARTITION BY part, kind, collective, group_name, bytes) AS own FROM placed),
     uneven AS (SELECT *, CASE WHEN min(own) OVER same < max(own) OVER same THEN step END AS within
                FROM counted WINDOW same AS (PARTITION BY kind, collective, group_name, bytes)),
     numbered AS (SELECT *, row_number() OVER (PARTITION BY part, kind, collective, group_name, bytes, within ORDER BY start_ns) AS number FROM uneven),
     met AS (SELECT kind, collective, group_name, bytes, within, number, min(duration_ns) AS transfer_ns, sum(duration_ns) AS all_ns,
                    count(*) AS ranks, arg_min(part, duration_ns) AS last FROM numbered GROUP BY ALL HAVING count(*) > 1)
SELECT collective, kind, group_name, bytes, count(*) AS calls, max(ranks) AS ranks, round(sum(transfer_ns) / 1e6, 3) AS transfer_ms,
       round(sum(all_ns / ranks - transfer_ns) / 1e6, 3) AS mean_wait_ms,
       CASE WHEN sum(all_ns / ranks - transfer_ns) > 0.01 * sum(transfer_ns) THEN mode(last) END AS mostly_last
FROM met GROUP BY collective, kind, group_name, bytes ORDER BY sum(all_ns) DESC, collective, kind LIMIT 20
