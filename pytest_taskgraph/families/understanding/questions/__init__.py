"""Questions of the patterns: references from settings, and questions from references."""
