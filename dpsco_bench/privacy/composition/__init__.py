"""How the queries of one plan compose: one module per currency."""
