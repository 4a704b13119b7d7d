"""Whether questions are sound, searched for violations without a model; and wrong answers made small with one."""
