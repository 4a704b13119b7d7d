"""The benchmark PAGED (Du et al. 2024): a procedural graph out of a document."""
