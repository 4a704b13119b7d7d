"""Soundness of questions: the search for violations without a model, and the reduction of wrong answers with one."""
