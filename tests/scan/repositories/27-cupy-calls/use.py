from windows import _triangle as make


def twice(n):
    return 2 * make(size=n)
