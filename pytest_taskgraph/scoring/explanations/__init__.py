"""What is wrong with an answer, in words: from the reference and the answer to sentences, the most important first.

A sentence is a clause without a full stop. It names a constraint that the answer violates, which the lists of missing
and extra names do not show. Each function takes plain JSON and never takes long, whatever the answer holds.

collection_differences  groups of names, and the pairs that stand in the wrong order
value_differences       a name, a set of names, a number, a condition, names or a verdict with reasons; also how names
                        and numbers are written, and how a long list is cut

What explains graphs stands beside their forms.
"""
