"""The benchmark STEPS (Wang et al. 2023): which step comes next in a recipe."""
