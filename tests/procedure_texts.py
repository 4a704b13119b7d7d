"""Procedural graphs as text that several tests ask about."""

from __future__ import annotations

# Two branches, of which both may be taken, and then two actions at a time.
DINNER = """\
Start -> lay the table
lay the table -> OR1
OR1 -> (dishes are needed) wash the plates
OR1 -> (drinks are needed) chill the wine
wash the plates -> OR2
chill the wine -> OR2
OR2 -> AND1
AND1 -> bake the bread
AND1 -> slice the cheese
bake the bread -> AND2
slice the cheese -> AND2
AND2 -> End
"""
