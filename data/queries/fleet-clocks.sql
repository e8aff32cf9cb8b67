-- Several ranks: at which clocks do their GPUs run, and how often does power or heat hold them down?
WITH seen AS (SELECT part, value, name LIKE '%SM clock (MHz)' AS is_clock, name LIKE '%clock event reasons (bits)' AS is_reason,
                     name LIKE '%power (W)' AS is_power, name LIKE '%temperature (°C)' AS is_heat FROM samples WHERE name LIKE 'GPU %'),
     each AS (SELECT part, count(*) FILTER (WHERE is_clock) AS samples, median(value) FILTER (WHERE is_clock) AS clock,
                     -- NVML's reasons: power cap 4, hardware slowdown 8, heat 32 and 64, power brake 128
                     avg(((value::BIGINT & 236) <> 0)::INTEGER) FILTER (WHERE is_reason) AS held, max(value) FILTER (WHERE is_power) AS power,
                     max(value) FILTER (WHERE is_heat) AS heat FROM seen GROUP BY part)
SELECT part, samples, clock AS sm_clock_mhz, round(100.0 * (1 - clock / nullif(median(clock) OVER (), 0)), 2) AS under_median_percent,
       round(100.0 * held, 1) AS held_down_percent, round(power, 1) AS most_power_w, heat AS most_celsius
FROM each WHERE samples > 0 ORDER BY under_median_percent DESC, held DESC, part
