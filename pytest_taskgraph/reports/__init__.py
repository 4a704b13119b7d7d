"""How results are shown.

terminal    the summary after a run, and the line or two before it
plan        what a run would ask and cost
progress    how far it is, in a line
failure     one wrong answer
gates       the verdicts over the whole run, in words
comparison  what changed since another run
markdown    a run for a pull request or the summary of a CI step
html        a run as one page: what was asked, drawn, replied, expected
csv         a row a trial
junit       properties for pytest's own --junitxml
verdict     the head of html and markdown: whether all is right
svg         a workflow as a drawing, its boxes where layout puts them
table       aligned columns, for every report made of text
escape      text of others made fit to print; nothing of a model's reply is shown without it
written     where a report is put
"""
