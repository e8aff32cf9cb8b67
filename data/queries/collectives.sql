-- Which collectives cost the most, and at what bandwidth?
SELECT collective, dtype, group_size, in_elements, count(*) AS calls, sum(duration_ns) / 1e6 AS total_ms,
       median(duration_ns) / 1e3 AS median_us, max(duration_ns) / 1e3 AS max_us, max(bus_gb_s) AS best_bus_gb_s
FROM collectives WHERE kind = 'kernel' OR NOT EXISTS (SELECT * FROM collectives WHERE kind = 'kernel')
GROUP BY ALL ORDER BY total_ms DESC, collective LIMIT 20
