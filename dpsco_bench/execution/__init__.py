"""From a resolved cell to rows of the result table."""
