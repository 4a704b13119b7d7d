"""How results are shown.

terminal    the summary after a run, and the line or two before it
failure     one wrong answer
junit       properties for pytest's own --junitxml
table       aligned columns, for every report made of text
escape      text of others made fit to print; nothing of a model's reply is shown without it
"""
