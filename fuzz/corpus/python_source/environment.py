class V:
 def __set_name__(s, o, n): self.n = "X_" + n
 def __get__(self): return os.environ[self.n]
class All:
 A = V(1)
v = {"A_B": lambda: os.getenv("A_B"), "A_C": lambda: os.getenv("A_C", 1), "A_D": env_x("A_D"), "A_E": f}
assert __name__ == "__main__"
