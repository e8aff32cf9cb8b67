-- Where in the program do the findings come from?
SELECT f.title, p.file, p.line, p.function, p.op, p.time_ns / 1e6 AS time_ms
FROM finding_places p JOIN findings f USING (finding) ORDER BY f.finding, p.time_ns DESC
