"""What a session tells: progress, forecast, summary and reports."""
