"""Models of natural language inference: what one is, and those on this machine.

entailment_scores   what any such model gives
entailment_weights  models of transformers on this machine, of the extra nli
"""
