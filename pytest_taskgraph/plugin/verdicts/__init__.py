"""What passes and fails: outcomes of items, gates, and what every question came to."""
