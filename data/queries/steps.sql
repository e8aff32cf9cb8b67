-- How long is each step, and how much of it is the GPU busy?
SELECT step, name, device, duration_ns / 1e6 AS wall_ms, busy_ns / 1e6 AS busy_ms, 100.0 * busy_ns / duration_ns AS busy_percent
FROM steps ORDER BY device, step
