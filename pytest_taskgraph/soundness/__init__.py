"""Whether questions are sound: properties that hold for every question, searched for violations without a model."""
