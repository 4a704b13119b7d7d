"""Graphs of steps and dependencies, scored against gold graphs.

The metrics are those of Yuan et al. (2024), "TaskLAMA: Probing the Complex Task Understanding of Language Models".

step_graphs      the steps and dependencies of an answer, and of a reference
precedence       cycles, reduction, closure, and pairwise accuracy
similarity       the similarity of two steps
sentence_models  the models by whose vectors it is measured, on this machine
step_matching    matchings of steps: unlimited, one-to-one, one-to-two
neighbourhoods   the parents and children of matched steps
shared_parts     the longest common chain and the largest common subgraph of matched steps
"""
