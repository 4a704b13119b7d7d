"""The family's part of soundness: instances and checks of its questions, rules of the linter, smaller workflows."""
