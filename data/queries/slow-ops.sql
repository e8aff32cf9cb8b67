-- Which ops lose the most time against the limit of the GPU?
SELECT name, input_dims, calls, gpu_ns / 1e6 AS gpu_ms, efficiency_percent, bound,
       (gpu_ns - calls * limit_ns) / 1e6 AS over_limit_ms
FROM ops WHERE limit_ns IS NOT NULL ORDER BY over_limit_ms DESC, op_id LIMIT 20
