"""Procedural graphs, scored against gold graphs by their elements.

The elements are those of Du et al. (2024), "PAGED: A Benchmark for Procedural Graphs Extraction from Documents",
appendix C.3; docs/reference/metrics.md states each choice that the paper leaves open.

bleu              the similarity of two texts
answered_graphs   the graph of an answer, and of a reference
element_counts    numerators and counts of precision and recall, which are summed before they are divided
node_matches      the similarity of nodes of two graphs, and which stand for each other
element_texts     actions, data constraints, action constraints and actors
gateway_scores    gateways by type
flow_scores       flows by type
graph_scores      all of these for two graphs
"""
