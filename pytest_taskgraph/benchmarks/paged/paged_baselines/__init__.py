"""The baselines of PAGED that use no language model."""
