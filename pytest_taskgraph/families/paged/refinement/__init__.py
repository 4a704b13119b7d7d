"""Self-refinement (Du et al. 2024, section 4.3): verifiers find what is wrong with the gateways of a graph.

verifier_feedback     what verifiers report, and the message to the model
condition_verifier    exclusive and inclusive gateways, by their conditions
parallel_verifier     parallel gateways and sequences, by the objects of actions
refine_episode        the rounds of feedback
conflict_rules        whether two conditions conflict, by logic and by words
entailment_conflicts  whether they do, by an entailment model
"""
