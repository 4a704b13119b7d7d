"""What the scores come to: tally and statistics, and the record that keeps a run. Knows trials, and no family."""
