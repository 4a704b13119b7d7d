"""Scoring: a reply is cut (`extract`), read (`forms`), measured (`metrics`), scored (`grade`), and so makes a trial
(`reply_scoring`).
"""
