"""The benchmark of workflow understanding: patterns of questions about generated and own workflows."""
