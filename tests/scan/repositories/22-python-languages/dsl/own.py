class ct:
    @staticmethod
    def kernel(f):
        return f


def jit(f):
    return f
