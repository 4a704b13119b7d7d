"""What is wrong with an answer, in words: from the reference and the answer to sentences, the most important first.

A sentence is a clause without a full stop. It names a constraint that the answer violates, which the lists of missing
and extra names do not show. Each function takes plain JSON and never takes long, whatever the answer holds.

sentence_parts         how names and numbers are written, and how a long list is cut
group_differences      groups of names
order_violations       the pairs that stand in the wrong order
value_differences      a name, a set of names, a number, a condition, names or a verdict with reasons
step_differences       steps and the dependencies between them
procedure_differences  the nodes and flows of a procedural graph
"""
