def launch(kernel, grid, *arguments):
    kernel[grid](*arguments)


# A near-twin: it looks at what it is given, and launches nothing.
def describe(kernel, grid):
    return kernel.__name__, grid
