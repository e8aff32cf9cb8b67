-- What costs time and could cost less?
SELECT priority, kind, title, time_ns / 1e6 AS time_ms, saving_least_ns / 1e6 AS saving_least_ms, saving_most_ns / 1e6 AS saving_most_ms
FROM findings ORDER BY finding
