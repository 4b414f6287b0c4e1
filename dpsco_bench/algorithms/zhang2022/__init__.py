"""Algorithms of Zhang, Tran, Cutkosky 2022: online-to-batch conversion with differential privacy."""
