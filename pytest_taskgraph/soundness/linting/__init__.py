"""The linter of suites: the problems that can be found without asking a model."""
