"""The layers around a live model: store, retries, limits, time and budget."""
