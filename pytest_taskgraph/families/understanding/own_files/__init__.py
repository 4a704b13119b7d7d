"""Questions about the user's own workflow files."""
