"""Wang, Ye, Xu 2017: Differentially Private Empirical Risk Minimization Revisited."""
