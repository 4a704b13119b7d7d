"""The linter of suites: what is wrong with them that can be found without asking a model."""
