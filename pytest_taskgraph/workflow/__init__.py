"""A workflow as plain data, and what can be computed from it: order, choice, hierarchy."""
