rounds = 5
