"""Guards: their language, and the situations in which they hold."""
