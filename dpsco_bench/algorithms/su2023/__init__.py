"""Su, Zhao, Wang 2023: Differentially Private Stochastic Convex Optimization in (Non)-Euclidean Space Revisited."""
