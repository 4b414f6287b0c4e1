"""Claims as data, their bounds as code, and the plan of jobs that measures them."""
