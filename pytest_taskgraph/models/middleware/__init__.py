"""Models around a model: store, budget, limits and retries."""
