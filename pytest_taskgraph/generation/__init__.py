"""Workflows made to order: a recipe, a builder, words of a domain, flaws that are planted, Hypothesis strategies."""
