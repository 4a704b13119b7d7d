"""Procedural graphs out of documents."""
