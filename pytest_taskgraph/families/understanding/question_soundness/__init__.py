"""The family's part of soundness: instances and checks of questions, lint rules, and smaller workflows."""
