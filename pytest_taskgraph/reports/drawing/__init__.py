"""Drawings of diagrams, as SVG and as lines of text."""
