def test_load(module):
    module.get_function("only_in_a_test")
