def test_start():
    pass
