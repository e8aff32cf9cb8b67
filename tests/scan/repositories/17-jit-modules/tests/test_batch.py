import pkg


def test_run():
    wrapper = pkg.BatchWrapper("float")
    wrapper.plan(1)
    wrapper.run(0)
    pkg.helper(1)
