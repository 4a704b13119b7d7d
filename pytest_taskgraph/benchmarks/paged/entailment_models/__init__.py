"""Models of natural language inference: what one is, and those on this machine."""
