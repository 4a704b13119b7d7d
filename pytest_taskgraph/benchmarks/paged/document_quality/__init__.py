"""The quality of procedural documents (Du et al. 2024, section 3.3 and appendix B), as models and people see it."""
