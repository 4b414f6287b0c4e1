"""Online learners, one per module; `base` has their interface."""
