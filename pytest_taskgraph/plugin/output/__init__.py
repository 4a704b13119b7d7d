"""Output of a session: progress, forecast, summary and reports."""
