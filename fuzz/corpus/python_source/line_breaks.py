a()
if x:	b()
\
  c()\