"""Bassily, Guzman, Nandi 2021: Non-Euclidean Differentially Private Stochastic Convex Optimization."""
