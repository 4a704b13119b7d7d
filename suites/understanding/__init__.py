"""Understanding of workflows."""
