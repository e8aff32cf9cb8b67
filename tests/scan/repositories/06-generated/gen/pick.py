def pick(module, m):
    return module.get_function(f"picked_by_name_m{m}")
