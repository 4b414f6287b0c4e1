"""Gopi, Lee, Liu, Shen, Tian 2022: private convex optimisation in general norms."""
