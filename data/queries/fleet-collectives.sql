-- Several ranks: which collectives cost the most, how much of it is waiting, and for whom?
WITH numbered AS (SELECT *, row_number() OVER (PARTITION BY part, kind, collective, group_name, bytes ORDER BY start_ns) AS number FROM collectives),
     met AS (SELECT kind, collective, group_name, bytes, number, min(duration_ns) AS transfer_ns, sum(duration_ns) AS all_ns,
                    count(*) AS ranks, arg_min(part, duration_ns) AS last FROM numbered GROUP BY ALL HAVING count(*) > 1)
SELECT collective, kind, group_name, bytes, count(*) AS calls, max(ranks) AS ranks, round(sum(transfer_ns) / 1e6, 3) AS transfer_ms,
       round(sum(all_ns / ranks - transfer_ns) / 1e6, 3) AS mean_wait_ms,
       CASE WHEN sum(all_ns / ranks - transfer_ns) > 0.01 * sum(transfer_ns) THEN mode(last) END AS mostly_last
FROM met GROUP BY collective, kind, group_name, bytes ORDER BY sum(all_ns) DESC, collective, kind LIMIT 20
