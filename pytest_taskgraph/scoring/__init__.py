"""Scoring: from a reply to a score.

extraction   the answer in a reply
forms        parsing and writing of answers
metrics      the value of an answer
grade        score and trial of a reply
"""
