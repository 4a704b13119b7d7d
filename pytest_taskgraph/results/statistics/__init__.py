"""Statistics of trials: intervals, tests and sample sizes."""
