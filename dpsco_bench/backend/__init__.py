"""Array namespaces: the same algorithm lines run on NumPy and on CuPy."""
