-- Which runs of a kernel took over twice the median of that kernel and shape?
SELECT name, step, start_ns, duration_ns / 1e3 AS us, median_ns / 1e3 AS median_us, duration_ns / median_ns AS times
FROM (SELECT *, median(duration_ns) OVER shape AS median_ns, count(*) OVER shape AS runs FROM kernels
      WINDOW shape AS (PARTITION BY name, grid_x, grid_y, grid_z, block_x, bytes))
WHERE runs >= 5 AND duration_ns > 2 * median_ns ORDER BY duration_ns - median_ns DESC, start_ns LIMIT 20
