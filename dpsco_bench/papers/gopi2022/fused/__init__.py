"""Fused runs of the chains of Gopi, Lee, Liu, Shen, Tian 2022."""
