"""A question asked about ever smaller workflows."""
