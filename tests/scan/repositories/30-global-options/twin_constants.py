"""Looks alike: what it executes sets nothing, and its own globals() come from no command line."""
rounds = 4
exec(open("defaults.py").read())
globals()["seed"] = rounds
