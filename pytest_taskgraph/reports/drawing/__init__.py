"""Drawings of diagrams."""
