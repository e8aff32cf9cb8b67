def f(:
  a(

def g():
	if x:
      y
   z
print "x"
$
'open
f"{a