def run(module, rows):
    return module.get_function(f"taken_by_python_m{rows}")
