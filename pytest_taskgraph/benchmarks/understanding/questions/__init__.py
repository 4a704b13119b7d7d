"""From settings to references of questions, and from a reference to the question."""
