"""Which step comes next, in recipes and in workflows."""
